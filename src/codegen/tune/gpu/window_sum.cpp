// A convolution, and its gradient by the image: the sum runs over taps, at which each result reads an image. A thread
// has a part of a row of results, for some filters, so that a row of the image serves all of its taps. Both factors lie
// in tiles: each position of the image once, with its border, and the filters along the results.
#include <algorithm>
#include <memory>
#include <optional>

#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/window.h"
#include "codegen/tune/gpu/product_sides.h"
#include "codegen/tune/gpu/staging.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

using ir::UOp;

constexpr int64_t kMaxSumTaps = 8;                             ///< of a window's side
constexpr int64_t kMinResults = 16, kMaxResults = 96;          ///< of a thread
constexpr int64_t kMaxRow = 32;                                ///< of a row's results, in a thread
constexpr int64_t kMinSumThreads = 128, kMaxSumThreads = 384;  ///< each scheduler has a warp
constexpr double kMinShare = 0.9;                              ///< of the threads of whole warps
constexpr int64_t kFirstBytes = 24 << 10;                      ///< of tiles, in the block that stands for all others

/// How threads share a row of results.
struct RowShare {
  RangeShare share;
  std::vector<Opt> opts = {};  ///< of steps along the row
};

class WindowSumGenerator : public std::enable_shared_from_this<WindowSumGenerator> {
 public:
  WindowSumGenerator(TuneSpace& space, ProductSides sides, std::vector<Candidate>& out)
      : space_(space), analysis_(space.analysis), sides_(std::move(sides)), product_(*sides_.product), out_(out) {}

  void run() {
    if (!find_windows()) return;
    for (const RowShare& row : row_shares())
      for (const int lanes : {4, 2, 1})
        for (const int copies : {1, 2, 4, 8})
          for (const int threads : {1, 2, 4, 8, 16, 32})
            for (const int64_t columns : column_threads())
              for (const int images : {1, 2, 4, 8}) propose(row, {filters_, lanes, copies, threads}, columns, images);
  }

 private:
  /// Windows of which a sum has the taps and each result the position.
  bool find_windows() {
    if (!sides_.parts.empty()) return false;
    FreeRanges ranges;
    for (image_ = 0; image_ < 2 && windows_.empty(); image_ += windows_.empty())
      for (size_t i = product_.blocks; i < product_.reduced_ranges.size(); ++i)
        for (UOp along : sides_.sides[image_])
          if (const auto found = window_of(sides_.values[image_], along, product_.reduced_ranges[i], ranges);
              found && is_free(along) && analysis_.size(found->taps) <= kMaxSumTaps)
            windows_.push_back(*found);
    if (windows_.empty() || windows_.size() > 2) return false;
    const std::vector<UOp>& image = sides_.sides[image_];
    std::ranges::sort(windows_, [&](const Window& a, const Window& b) {  // the last along a row of results
      return std::ranges::find(image, a.along) > std::ranges::find(image, b.along);
    });
    if (windows_.size() == 2 && (windows_[0].along == windows_[1].along || windows_[0].taps == windows_[1].taps))
      return false;
    filters_ = sides_.sides[1 - image_].front();
    for (UOp r : image)
      if (!(r == row().along) && !(r == windows_[0].along) && !images_) images_ = r;
    for (size_t i = product_.blocks; i < product_.reduced_ranges.size() && !channels_; ++i)
      if (const UOp r = product_.reduced_ranges[i];
          std::ranges::none_of(windows_, [&](auto& w) { return w.taps == r; }))
        channels_ = r;
    return is_free(filters_) && row().taps == product_.reduced_ranges.back() &&
           (!channels_ || (!space_.is_fixed(channels_) && has_static_size(channels_)));
  }
  bool is_free(UOp r) const { return is_outer(r) && !space_.is_fixed(r) && has_static_size(r); }
  const Window& row() const { return windows_.back(); }
  const Window* column() const { return windows_.size() > 1 ? &windows_.front() : nullptr; }

  /// A border that is known in each copy costs nothing. So a thread has whole rows, or steps of which the first and the
  /// last are cut off. Where there is no border, threads may share a row.
  std::vector<RowShare> row_shares() {
    std::vector<RowShare> out;
    const UOp r = row().along;
    const int64_t size = analysis_.size(r);
    if (size <= kMaxRow) out.push_back({{r, 1, static_cast<int>(size)}});
    const UOp predicate = common_predicate(product_.node);
    const bool border = predicate && analysis_.depends(predicate, r);
    for (int64_t copies = 4; copies < std::min(size, kMaxRow + 1); ++copies) {
      if (size % copies || (border && copies < row().last_tap())) continue;
      const int64_t steps = size / copies;
      if (border) {
        std::vector<int64_t> at{copies, size - copies};
        if (steps == 2) at.pop_back();
        out.push_back({{r, 1, static_cast<int>(copies)}, {TaskBlock{range_id(r), size}, Cut{range_id(r), at}}});
      } else if (steps <= kMaxSumThreads) {
        const bool vectors = copies % 4 == 0 && row().step == 1;  // neighbors
        const auto threads = static_cast<int>(steps % 16 == 0 ? 16 : steps);
        out.push_back({{r, vectors ? 4 : 1, static_cast<int>(vectors ? copies / 4 : copies), threads}});
      }
    }
    return out;
  }
  /// Threads along the columns of an image, of which a block has as many.
  std::vector<int64_t> column_threads() {
    std::vector<int64_t> out;
    const int64_t size = column() ? analysis_.size(column()->along) : 1;
    for (int64_t n = 1; n <= std::min(size, kMaxSumThreads); ++n)
      if (size % n == 0) out.push_back(n);
    return out;
  }

  struct Shape {
    RangeShare filters, images, column, row;
    std::vector<Opt> row_opts;
    int threads = 1;
    std::vector<RangeShare> shares() const {
      std::vector<RangeShare> all;
      for (const RangeShare& s : {row, column, filters, images})
        if (s.range) all.push_back(s);
      return all;
    }
  };

  void propose(const RowShare& row, RangeShare filters, int64_t columns, int images) {
    if (filters.lanes > 1 && row.share.lanes > 1) return;  // a result has one vector
    if (filters.lanes == 1 && row.share.lanes == 1 && filters.unroll == 1 && filters.threads > 1) return;
    const int64_t results = int64_t{1} * row.share.lanes * row.share.unroll * filters.lanes * filters.unroll;
    if (results < kMinResults || results > kMaxResults || filters.width() > analysis_.size(filters_) ||
        analysis_.size(filters_) % filters.width())
      return;
    const bool all_columns = !column() || columns == analysis_.size(column()->along);
    if (images > 1 && (!images_ || !is_free(images_) || !all_columns || images > analysis_.size(images_))) return;
    Shape shape{filters, {}, {}, row.share, row.opts};
    const auto share = [&](RangeShare& s) {
      s.stride = s.threads > 1 ? shape.threads : 1;
      shape.threads *= s.threads;
    };
    share(shape.filters);
    share(shape.row);
    if (column()) shape.column = {column()->along, 1, 1, static_cast<int>(columns)};
    share(shape.column);
    if (images > 1) shape.images = {images_, 1, 1, images};
    share(shape.images);
    const int64_t whole = round_up(shape.threads, kWarp);
    if (shape.threads < kMinSumThreads || shape.threads > kMaxSumThreads ||
        shape.threads < kMinShare * static_cast<double>(whole) || !fills_machine(space_, product_, shape.shares()))
      return;
    std::vector<int64_t> steps;
    for (int64_t n = 1; channels_ && n <= std::min<int64_t>(16, analysis_.size(channels_) - 1); n *= 2)
      if (analysis_.size(channels_) % n == 0) steps.push_back(n);
    if (steps.empty()) steps.push_back(0);
    int64_t first = steps.front();
    for (const int64_t n : steps)
      if (n && bytes_of(shape, n) <= kFirstBytes) first = n;
    std::vector<Candidate> made;
    stage(shape, first, made);
    if (made.empty()) return;
    made.front().refine = [self = shared_from_this(), shape, steps](std::vector<Candidate>& more) {
      for (const int64_t n : steps) self->stage(shape, n, more);
    };
    out_.push_back(std::move(made.front()));
  }

  /// Of a value: so many channels of what a block reads.
  std::vector<StagedDim> dims_of(size_t side, const Shape& shape, int64_t channels) {
    std::vector<StagedDim> dims;
    const UOp value = sides_.values[side];
    const auto add = [&](UOp r, int level, int64_t extent, const RangeShare& read, UOp taps = {}) {
      if (r && analysis_.depends(value, r)) dims.push_back({r, level, extent, read, taps});
    };
    for (size_t i = product_.blocks; i < product_.reduced_ranges.size(); ++i) {
      const UOp r = product_.reduced_ranges[i];
      const bool tap = std::ranges::any_of(windows_, [&](const Window& w) { return w.taps == r; });
      if (r == channels_ && channels)
        add(r, 0, channels, {});
      else if (side != image_ || !tap)
        add(r, -1, analysis_.size(r), {});
    }
    if (side != image_) {
      add(filters_, -1, shape.filters.width(), shape.filters);
      return dims;
    }
    add(shape.images.range, -1, shape.images.threads, shape.images);
    for (const Window& w : windows_) {
      const RangeShare& s = w == row() ? shape.row : shape.column;
      const int64_t block = w == row() && !shape.row_opts.empty() ? analysis_.size(w.along) : s.width();
      add(w.along, -1, w.extent(block), s, w.taps);
    }
    return dims;
  }
  int64_t bytes_of(const Shape& shape, int64_t channels) {
    int64_t bytes = 0;
    for (size_t side = 0; side < 2; ++side) {
      int64_t elements = 1;
      for (const StagedDim& d : dims_of(side, shape, channels)) elements *= d.extent;
      bytes += elements * static_cast<int64_t>(size_of(sides_.values[side]->dtype));
    }
    return bytes;
  }

  void stage(const Shape& shape, int64_t channels, std::vector<Candidate>& out) {
    std::vector<Opt> more = shape.row_opts;
    if (channels) more.push_back(Split{range_id(channels_), channels});
    for (size_t side = 0; side < 2; ++side) {
      const std::optional<TileCopy> copy =
          stage_value(space_, sides_.values[side], dims_of(side, shape, channels), shape.threads);
      if (!copy) return;
      more.emplace_back(*copy);
    }
    const int64_t taps = analysis_.size(row().taps);
    if (taps > 1) more.push_back(Unroll{range_id(row().taps), static_cast<int>(taps)});
    out.push_back(make_candidate("window sum", space_, shape.shares(), more));
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  const ProductSides sides_;
  const StatementAnalysis& product_;
  std::vector<Candidate>& out_;
  size_t image_ = 0;  ///< which factor has windows
  std::vector<Window> windows_;
  UOp filters_, images_, channels_;  ///< two may be null
};

}  // namespace

void propose_window_sums(TuneSpace& space, std::vector<Candidate>& out) {
  std::optional<ProductSides> sides = product_sides(space);
  if (sides && !sides->product->node->reduction().tree.mma)
    std::make_shared<WindowSumGenerator>(space, std::move(*sides), out)->run();
}

}  // namespace sinter::codegen
