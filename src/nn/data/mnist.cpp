// MNIST: the user's files, or the subset that the library carries.
#include <fmt/core.h>

#include <cstdlib>

#include "sinter/data.h"

// The first 6,000 training and 1,000 test images; src/nn/data/mnist/README.md names origin and licence.
#define SINTER_EMBED(symbol, file)                                                             \
  asm(".section .rodata\n.balign 16\n" #symbol ":\n.incbin \"" SINTER_MNIST_SUBSET "/" file    \
      "\"\n" #symbol "_end:\n.previous\n");                                                    \
  extern "C" const unsigned char symbol[] __attribute__((visibility("hidden")));               \
  extern "C" const unsigned char symbol##_end[] __attribute__((visibility("hidden")));

SINTER_EMBED(sinter_mnist_train_images, "train-images-idx3-ubyte.gz")
SINTER_EMBED(sinter_mnist_train_labels, "train-labels-idx1-ubyte.gz")
SINTER_EMBED(sinter_mnist_test_images, "t10k-images-idx3-ubyte.gz")
SINTER_EMBED(sinter_mnist_test_labels, "t10k-labels-idx1-ubyte.gz")

namespace sinter {
inline namespace v0 {
namespace data {
namespace {

constexpr const char* kFiles[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

std::filesystem::path find(const std::filesystem::path& folder, const char* file) {
  for (const char* ending : {"", ".gz"}) {
    std::filesystem::path path = folder / (std::string(file) + ending);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}
bool complete(const std::filesystem::path& folder) {
  for (const char* file : kFiles)
    if (find(folder, file).empty()) return false;
  return true;
}

Dataset pair(const Idx& images, const Idx& labels, const std::string& name, Loc where) {
  if (images.shape.size() != 3 || labels.shape.size() != 1 || images.shape[0] != labels.shape[0] || images.shape[1] != 28 || images.shape[2] != 28)
    throw UsageError(fmt::format("mnist: {} holds images of rank {} and {} labels, not one label per 28 x 28 image", name, images.shape.size(),
                                 labels.values.size()), where);
  for (uint8_t label : labels.values)
    if (label > 9) throw UsageError(fmt::format("mnist: {} holds the label {}; digits are 0 to 9", name, label), where);
  return Dataset(images.values, labels.values, 28, 28, 0.1307, 0.3081);
}

Idx embedded(const unsigned char* begin, const unsigned char* end, Loc where) { return parse_idx({begin, end}, "the subset in the library", where); }

}  // namespace

Mnist mnist(const std::filesystem::path& folder, Loc where) {
  std::vector<std::filesystem::path> places;
  if (!folder.empty()) places = {folder};
  else {
    if (const char* data = std::getenv("SINTER_DATA"); data && *data) places = {data, std::filesystem::path(data) / "mnist"};
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    if (cache && *cache) places.push_back(std::filesystem::path(cache) / "sinter" / "mnist");
    else if (home && *home) places.push_back(std::filesystem::path(home) / ".cache" / "sinter" / "mnist");
  }
  for (const auto& place : places) {
    if (!complete(place)) continue;
    Idx parts[4];
    for (int i = 0; i < 4; ++i) parts[i] = read_idx(find(place, kFiles[i]), where);
    return {pair(parts[0], parts[1], place.string(), where), pair(parts[2], parts[3], place.string(), where), place.string(), false};
  }
  if (!folder.empty())
    throw UsageError(fmt::format("mnist: the folder {} lacks {} (plain or .gz); name a folder that holds all four files", folder.string(), kFiles[0]), where);
  return {pair(embedded(sinter_mnist_train_images, sinter_mnist_train_images_end, where),
               embedded(sinter_mnist_train_labels, sinter_mnist_train_labels_end, where), "the subset", where),
          pair(embedded(sinter_mnist_test_images, sinter_mnist_test_images_end, where),
               embedded(sinter_mnist_test_labels, sinter_mnist_test_labels_end, where), "the subset", where),
          "the subset of 6,000 training and 1,000 test images in the library", true};
}

}  // namespace data
}  // namespace v0
}  // namespace sinter
