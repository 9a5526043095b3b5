// MNIST and Fashion-MNIST: where their files are searched and downloaded from, and the embedded subset of MNIST.
#include <fmt/core.h>

#include <optional>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/base/files.h"
#include "sinter/data.h"

// The first 6,000 training and 1,000 test images. src/nn/data/mnist/README.md gives origin and license.
// NOLINTBEGIN(bugprone-macro-parentheses): a name that is declared has none
#define SINTER_EMBED(symbol, file)                                                                         \
  asm(".section .rodata\n.balign 16\n" #symbol ":\n.incbin \"" SINTER_MNIST_SUBSET "/" file "\"\n" #symbol \
      "_end:\n.previous\n");                                                                               \
  extern "C" const unsigned char symbol[] __attribute__((visibility("hidden")));                           \
  extern "C" const unsigned char symbol##_end[] __attribute__((visibility("hidden")));
// NOLINTEND(bugprone-macro-parentheses)

SINTER_EMBED(sinter_mnist_train_images, "train-images-idx3-ubyte.gz")
SINTER_EMBED(sinter_mnist_train_labels, "train-labels-idx1-ubyte.gz")
SINTER_EMBED(sinter_mnist_test_images, "t10k-images-idx3-ubyte.gz")
SINTER_EMBED(sinter_mnist_test_labels, "t10k-labels-idx1-ubyte.gz")

namespace sinter::inline v0::data {
namespace {

namespace fs = std::filesystem;

struct DatasetFile {
  const char* name;    ///< without .gz
  const char* sha256;  ///< of the .gz file
  uint64_t bytes;
};
/// A data set in the format of MNIST.
struct DatasetSource {
  const char* call;
  const char* name;  ///< of its folders
  const char* url;
  DatasetFile parts[4];  ///< as on the public mirrors
  double mean, std;
};

constexpr DatasetSource kMnist = {
    "mnist",
    "mnist",
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    {{"train-images-idx3-ubyte", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9912422},
     {"train-labels-idx1-ubyte", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", 28881},
     {"t10k-images-idx3-ubyte", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", 1648877},
     {"t10k-labels-idx1-ubyte", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", 4542}},
    0.1307,
    0.3081};
constexpr DatasetSource kFashion = {
    "fashion_mnist",
    "fashion-mnist",
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
    {{"train-images-idx3-ubyte", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84", 26421880},
     {"train-labels-idx1-ubyte", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845", 29515},
     {"t10k-images-idx3-ubyte", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073", 4422102},
     {"t10k-labels-idx1-ubyte", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5", 5148}},
    0.2860,
    0.3530};
constexpr const char* kDebianSets = "/usr/share/datasets";

fs::path find(const fs::path& folder, const DatasetFile& part) {
  for (const char* ending : {"", ".gz"}) {
    fs::path path = folder / (std::string(part.name) + ending);
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}
bool has_all_files(const fs::path& folder, const DatasetSource& set) {
  for (const DatasetFile& part : set.parts)
    if (find(folder, part).empty()) return false;
  return true;
}

/// The set's folder in the user's cache folder; empty if there is none.
fs::path cache_of(const DatasetSource& set) {
  const std::string folder = runtime::cache_folder();
  return folder.empty() ? fs::path() : fs::path(folder) / set.name;
}

Dataset make_dataset(const DatasetSource& set, const Idx& images, const Idx& labels, const std::string& name,
                     Loc where) {
  if (images.shape.size() != 3 || labels.shape.size() != 1 || images.shape[0] != labels.shape[0] ||
      images.shape[1] != 28 || images.shape[2] != 28)
    throw UsageError(fmt::format("{}: {} holds images of rank {} and {} labels, not one label per 28 x 28 image",
                                 set.call, name, images.shape.size(), labels.values.size()),
                     where);
  for (uint8_t label : labels.values)
    if (label > 9)
      throw UsageError(fmt::format("{}: {} holds the label {}; classes are 0 to 9", set.call, name, label), where);
  return Dataset(images.values, labels.values, 28, 28, set.mean, set.std, where);
}

Mnist read(const DatasetSource& set, const fs::path& folder, Loc where) {
  Idx parts[4];
  for (int i = 0; i < 4; ++i) parts[i] = read_idx(find(folder, set.parts[i]), where);
  return {make_dataset(set, parts[0], parts[1], folder.string(), where),
          make_dataset(set, parts[2], parts[3], folder.string(), where), folder.string(), false};
}

/// Reads the set from the first place that has all four files. If `folder` is given, it is the only place, and must
/// have them.
std::optional<Mnist> find_set(const DatasetSource& set, const fs::path& folder, std::vector<fs::path> places,
                              Loc where) {
  if (!folder.empty() && !has_all_files(folder, set))
    throw UsageError(
        fmt::format(
            "{}: the folder {} lacks {} (plain or .gz) or another of the four files; name a folder that holds them all",
            set.call, folder.string(), set.parts[0].name),
        where);
  if (!folder.empty()) places = {folder};
  for (const fs::path& place : places)
    if (!place.empty() && has_all_files(place, set)) return read(set, place, where);
  return {};
}

/// The folder that SINTER_DATA names; empty if it is not set.
fs::path data_folder(Loc where) {
  const fs::path folder = runtime::env().data;
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw UsageError(fmt::format("SINTER_DATA={} is no folder; name one, or unset the variable", folder.string()),
                     where);
  return folder;
}
/// The set's folder in `folder`; empty if `folder` is.
fs::path below(const fs::path& folder, const DatasetSource& set) { return folder.empty() ? folder : folder / set.name; }

fs::path download(const DatasetSource& set, const DownloadOptions& options, Loc where) {
  const fs::path folder = options.folder.empty() ? cache_of(set) : options.folder;
  if (folder.empty())
    throw UsageError(fmt::format("download_{}: neither XDG_CACHE_HOME nor HOME is set; name a folder", set.call),
                     where);
  for (const DatasetFile& part : set.parts) {
    const std::string file = std::string(part.name) + ".gz";
    fetch({(options.url.empty() ? set.url : options.url) + "/" + file, part.sha256, part.bytes}, folder / file,
          options.progress, where);
  }
  return folder;
}

Idx embedded(const unsigned char* begin, const unsigned char* end, Loc where) {
  return parse_idx({begin, end}, "the subset in the library", where);
}

}  // namespace

Mnist mnist(const fs::path& folder, Loc where) {
  const fs::path named = data_folder(where);
  if (auto found = find_set(kMnist, folder, {named, below(named, kMnist), cache_of(kMnist)}, where))
    return *std::move(found);
  return {make_dataset(kMnist, embedded(sinter_mnist_train_images, sinter_mnist_train_images_end, where),
                       embedded(sinter_mnist_train_labels, sinter_mnist_train_labels_end, where), "the subset", where),
          make_dataset(kMnist, embedded(sinter_mnist_test_images, sinter_mnist_test_images_end, where),
                       embedded(sinter_mnist_test_labels, sinter_mnist_test_labels_end, where), "the subset", where),
          "the subset of 6,000 training and 1,000 test images in the library", true};
}

Mnist fashion_mnist(const fs::path& folder, Loc where) {
  if (auto found =
          find_set(kFashion, folder,
                   {below(data_folder(where), kFashion), cache_of(kFashion), below(kDebianSets, kFashion)}, where))
    return *std::move(found);
  throw UsageError(
      "fashion_mnist: the set is not on this machine; install Debian's package dataset-fashion-mnist, call "
      "download_fashion_mnist(), or name a folder with its four IDX files",
      where);
}

fs::path download_mnist(const DownloadOptions& options, Loc where) { return download(kMnist, options, where); }
fs::path download_fashion_mnist(const DownloadOptions& options, Loc where) {
  return download(kFashion, options, where);
}

}  // namespace sinter::inline v0::data
