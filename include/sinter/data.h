// Data sets and batches (library sinter_data). Readers validate every size before using it; nothing is loaded
// partially.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// The order of a pass over a data set.
enum class Order : uint8_t {
  InOrder,  ///< the order of the files
  Shuffled  ///< a new order in each pass
};
inline constexpr Order shuffle = Order::Shuffled;  ///< batches(256, sn::shuffle)

/// Data sets and batches (library sinter_data).
namespace data {

/// Samples and labels of one batch. Binds as `auto [x, y]`.
struct Batch {
  Tensor x;  ///< [n, ...] float32
  Tensor y;  ///< [n] int64
};

/// Images of one size with a label each, on the host. Pixels are bytes; batches return them as (pixel / 255 - mean) /
/// std. Copies share the images and the sequence of orders. Several threads may use one data set; a pass belongs to one
/// thread at a time.
/// @snippet training.cpp data
class Dataset {
 public:
  /// Image i starts at pixels[i * rows * columns], row-major. UsageError unless there are as many images as labels, of
  /// at least one pixel, and mean and std are finite, with std > 0.
  Dataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels, int64_t rows, int64_t columns, double mean,
          double std, Loc where = Loc::current());
  int64_t size() const { return static_cast<int64_t>(labels().size()); }   ///< images
  int64_t rows() const { return samples_->rows; }                          ///< pixels from top to bottom
  int64_t columns() const { return samples_->columns; }                    ///< pixels from left to right
  const std::vector<uint8_t>& pixels() const { return samples_->pixels; }  ///< of all images, as given
  const std::vector<uint8_t>& labels() const { return samples_->labels; }  ///< one per image

  class Batches;
  /// One pass in batches of `size` samples (at least 1, UsageError), x as [n, rows * columns]; the last batch may be
  /// smaller. Each shuffled pass has its own order, which follows from the seed and the number of shuffled passes
  /// begun. The pass keeps alive what it needs of the data set.
  Batches batches(int64_t size, Order order = Order::InOrder, Loc where = Loc::current()) const;
  /// Seeds the orders of later passes; 0 at first.
  void seed(uint64_t seed);

 private:
  struct Samples {
    std::vector<uint8_t> pixels, labels;
    int64_t rows, columns;
    float table[256];  ///< normalized value of each pixel value
  };
  std::shared_ptr<const Samples> samples_;         ///< shared with copies and passes: a pass may outlive the data set
  std::shared_ptr<std::atomic<uint64_t>> random_;  ///< state of the shuffles; shared with copies
};

/// A pass over a data set. It keeps the data alive; it is a range of Batch.
class Dataset::Batches {
 public:
  /// A position in a pass.
  class iterator {
   public:
    using value_type = Batch;                ///< a new one at each dereference
    using difference_type = std::ptrdiff_t;  ///< of batches
    Batch operator*() const;                 ///< gathers and normalizes; once per batch
    /// Advances to the next batch.
    iterator& operator++() {
      first_ += pass_->size_;
      return *this;
    }
    void operator++(int) { ++*this; }  ///< the same
    /// Whether no batch is left.
    bool operator==(std::default_sentinel_t) const { return first_ >= static_cast<int64_t>(pass_->order_.size()); }

   private:
    friend class Batches;
    iterator(const Batches* pass) : pass_(pass) {}
    const Batches* pass_;
    int64_t first_ = 0;
  };
  iterator begin() const { return iterator(this); }   ///< at the first batch
  std::default_sentinel_t end() const { return {}; }  ///< after the last one
  /// Number of batches.
  int64_t count() const {
    const auto samples = static_cast<int64_t>(order_.size());
    return samples / size_ + (samples % size_ != 0);
  }

 private:
  friend class Dataset;
  std::shared_ptr<const Samples> samples_;
  std::vector<uint32_t> order_;
  int64_t size_;
  Loc where_;
};

/// A set of 28 x 28 images in ten classes, 60,000 for training and 10,000 for testing, in four IDX files.
struct Mnist {
  Dataset train;        ///< for training
  Dataset test;         ///< for testing
  std::string origin;   ///< the folder it was read from, or a note that it is the library's subset
  bool subset = false;  ///< it is the library's subset: 6,000 + 1,000 images
};

/// The handwritten digits of LeCun, Cortes and Burges. Searches for the four files, plain or .gz: in `folder` if given;
/// otherwise in SINTER_DATA and its subfolder mnist, then in the user's cache folder (~/.cache/sinter/mnist). If they
/// are nowhere, uses the subset in the library. Normalized with mean 0.1307 and standard deviation 0.3081. A given
/// folder without the files, or a damaged file, is a UsageError.
Mnist mnist(const std::filesystem::path& folder = {}, Loc where = Loc::current());

/// Zalando's articles of clothing (Xiao, Rasul, Vollgraf, 2017), in the format of MNIST: T-shirt, trouser, pullover,
/// dress, coat, sandal, shirt, sneaker, bag, ankle boot. Searches in `folder` if given; otherwise in the subfolder
/// fashion-mnist of SINTER_DATA, in the user's cache folder, and where Debian's package dataset-fashion-mnist puts it.
/// Normalized with mean 0.2860 and standard deviation 0.3530. UsageError if it is nowhere, or damaged.
Mnist fashion_mnist(const std::filesystem::path& folder = {}, Loc where = Loc::current());

// -- downloads: only on request, by the program curl; complete or not at all

/// A remote file. Its checksum verifies what was downloaded.
struct RemoteFile {
  std::string url;     ///< https, http or file
  std::string sha256;  ///< 64 digits 0-9 a-f
  uint64_t bytes = 0;  ///< 0: unknown
};
/// Called several times a second: the file's name, bytes received, total bytes (0: unknown).
using Progress = std::function<void(const std::string& name, uint64_t done, uint64_t total)>;

/// Downloads a file to `path`. Does nothing if a file with that checksum is there. The download goes to `path`.part,
/// which a later attempt resumes, and is renamed once its SHA-256 sum is right. BackendError if the file cannot be read
/// or written, if it is a different file, or if curl or sha256sum is missing.
void fetch(const RemoteFile& file, const std::filesystem::path& path, const Progress& progress = {},
           Loc where = Loc::current());

/// Source and destination of a download.
struct DownloadOptions {
  std::filesystem::path folder = {};  ///< default: the folder in the user's cache where the readers look
  std::string url = {};               ///< of the folder with the four .gz files; default: a public mirror
  Progress progress = {};             ///< called for each file
};
/// Downloads the four files of mnist() (12 MB) and returns their folder.
std::filesystem::path download_mnist(const DownloadOptions& options = {}, Loc where = Loc::current());
/// The same for fashion_mnist() (31 MB).
std::filesystem::path download_fashion_mnist(const DownloadOptions& options = {}, Loc where = Loc::current());

/// The contents of an IDX file of type uint8.
struct Idx {
  std::vector<int64_t> shape;   ///< sizes, outermost first
  std::vector<uint8_t> values;  ///< row-major
};
/// Reads an IDX file, plain or gzip, with no more memory than its header asks for. UsageError for a damaged or
/// truncated file.
Idx read_idx(const std::filesystem::path& path, Loc where = Loc::current());
/// The same from memory. Errors name `name`.
Idx parse_idx(const std::vector<uint8_t>& bytes, const std::string& name, Loc where = Loc::current());

}  // namespace data
}  // namespace sinter::inline v0
