// Data sets and batches (library sinter_data). Readers check every size before they believe it; nothing is half-loaded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// The order of a pass over a data set.
enum class Order : uint8_t { InOrder, Shuffled };
inline constexpr Order shuffle = Order::Shuffled;

namespace data {

/// Samples and labels of one batch: x [n, ...] float32, y [n] int64. Binds as `auto [x, y]`.
struct Batch { Tensor x, y; };

/// Images of one size with a label each, on the host. Pixels are bytes; batches hand them out as (pixel / 255 - mean) / std.
class Dataset {
 public:
  Dataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels, int64_t rows, int64_t columns, double mean, double std);
  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const std::vector<uint8_t>& pixels() const { return pixels_; }
  const std::vector<uint8_t>& labels() const { return labels_; }

  class Batches;
  /// One pass in batches of `size` samples, x as [n, rows * columns]; the last batch may be smaller. Each shuffled pass has an
  /// order of its own, which follows from `seed` and the number of passes begun.
  Batches batches(int64_t size, Order order = Order::InOrder, Loc where = Loc::current()) const;
  void seed(uint64_t seed);

 private:
  std::vector<uint8_t> pixels_, labels_;
  int64_t rows_, columns_;
  float table_[256];  ///< normalised value of each pixel value
  std::shared_ptr<uint64_t> random_;
};

/// A pass over a data set; a range of Batch.
class Dataset::Batches {
 public:
  class iterator {
   public:
    Batch operator*() const;
    iterator& operator++() { first_ += pass_->size_; return *this; }
    bool operator!=(std::nullptr_t) const { return first_ < static_cast<int64_t>(pass_->order_.size()); }

   private:
    friend class Batches;
    iterator(const Batches* pass) : pass_(pass) {}
    const Batches* pass_;
    int64_t first_ = 0;
  };
  iterator begin() const { return iterator(this); }
  std::nullptr_t end() const { return nullptr; }
  /// Number of batches.
  int64_t count() const { return (static_cast<int64_t>(order_.size()) + size_ - 1) / size_; }

 private:
  friend class Dataset;
  const Dataset* data_;
  std::vector<uint32_t> order_;
  int64_t size_;
};

struct Mnist {
  Dataset train, test;
  std::string origin;   ///< the folder it was read from, or that it is the subset in the library
  bool subset = false;  ///< 6,000 + 1,000 images instead of 60,000 + 10,000
};

/// The handwritten digits of LeCun, Cortes and Burges: 28 x 28, ten classes. Looks for the four IDX files, plain or .gz, in `folder`
/// if given; otherwise in SINTER_DATA, then in the user's cache folder (~/.cache/sinter/mnist), and takes the subset in the library
/// when there is none. Normalised with mean 0.1307 and standard deviation 0.3081. A named folder without the files, or a damaged
/// file, is a UsageError.
Mnist mnist(const std::filesystem::path& folder = {}, Loc where = Loc::current());

/// An IDX file (type uint8), plain or gzip. Throws UsageError on a damaged or truncated one.
struct Idx { std::vector<int64_t> shape; std::vector<uint8_t> values; };
Idx read_idx(const std::filesystem::path& path, Loc where = Loc::current());
/// The same from memory; `name` stands in errors.
Idx parse_idx(const std::vector<uint8_t>& bytes, const std::string& name, Loc where = Loc::current());

}  // namespace data
}  // namespace v0
}  // namespace sinter
