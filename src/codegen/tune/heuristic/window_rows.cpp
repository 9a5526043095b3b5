// A task covers some rows of an image, or of some planes of a volume. It copies what their windows read into a tile
// with zeros at the border, so that each vector of the image is one load at any tap. Vectors pass under a few filters,
// whose taps are broadcast. Gradients by the image leave out what lies outside: they multiply the zeros where all
// filters are finite (codegen/emit/finite_factors.h).
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>

#include "codegen/emit/finite_factors.h"
#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/window.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/thread_partition.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

/// Filters of a tile, at least; at most, by a vector of each of two rows, which share what their windows read, and by
/// two vectors of a row. On Zen 3 (November 2026, AVX2), 6 x 2 vectors of two rows take as long as 4 x 2, and spill
/// where accumulators are carried from block to block.
constexpr int kMinFilters = 4, kMaxFilters = 5, kMaxFiltersOfRow = 6;
constexpr int kVectors = 2;  ///< of the image, of a tile
/// Registers for which the tile above is. With more of them, lanes along the filters have larger tiles, which these
/// were not compared with.
constexpr int kRegisters = 16;
constexpr int kMaxUnrolledTaps = 16;  ///< taps of a loop body, at most

/// Cycles of a step for all filters, in tiles of so many.
double cycles_of_tiles(int64_t filters, int tile, const runtime::Target& target) {
  const auto step = [&](int64_t count) {
    const double busy = static_cast<double>(count * kVectors) / target.multiplies_per_cycle;
    return count ? std::max<double>(busy, target.multiply_latency) : 0;
  };
  const int64_t whole = filters / tile;
  return static_cast<double>(whole) * step(tile) + step(filters % tile);
}

class WindowRows {
 public:
  explicit WindowRows(TuningState& state) : state_(state), analysis_(state.analysis) {}

  std::vector<Opt> run() {
    if (state_.target.vector_registers != kRegisters || state_.lanes == 1 || !state_.materializations.empty())
      return {};
    if (!find_product() || !find_windows() || !find_tile() || !choose_task()) return {};
    std::vector<Opt> opts = make_opts();
    return !opts.empty() && is_legal(state_.kernel, opts) ? opts : std::vector<Opt>{};
  }

 private:
  /// The only reduction, a sum of products of two loads: filters and an image with a border.
  bool find_product() {
    for (const StatementAnalysis& w : analysis_.statements()) {
      if (!w.is_reduce()) continue;
      if (product_) return false;
      product_ = &w;
    }
    if (!product_ || product_->chains() > 1 || !product_->sums.empty() || product_->reduced_ranges.size() < 2)
      return false;
    const std::vector<UOp> factors = open_factors(product_->node);
    if (factors.size() != 2 || factors[0]->op != Op::Load || factors[1]->op != Op::Load) return false;
    for (UOp f : factors) (predicate_of(f) ? image_ : filters_) = f;
    return image_ && filters_ && (!common_predicate(product_->node) || zeros_may_be_multiplied());
  }
  /// Of a sum that leaves out what lies outside of the image. Masks would cost what the tile saves.
  bool zeros_may_be_multiplied() {
    FreeRanges ranges;
    const std::vector<UOp> outer = ir::filtered(analysis_.ranges(), is_outer);
    return zero_predicate(image_) == common_predicate(product_->node) &&
           is_looked_at(filters_, outer, state_.lanes, ranges, state_.target) &&
           std::ranges::none_of(state_.kernel.sink->src, [&](UOp s) { return slot_of(s) == slot_of(filters_); });
  }

  /// Pairs of a range of the image and one of taps, outermost first. The last is the row of the image.
  bool find_windows() {
    FreeRanges ranges;
    for (UOp taps : product_->reduced_ranges)
      for (UOp along : product_->result_ranges)
        if (is_outer(along) && analysis_.depends(image_, taps) && analysis_.depends(image_, along))
          if (const auto window = window_of(image_, along, taps, ranges)) windows_.push_back(*window);
    if (windows_.empty() || windows_.size() > 3) return false;
    if (std::ranges::none_of(windows_,
                             [&](const Window& w) { return analysis_.depends(predicate_of(image_), w.along); }))
      return false;
    row_ = windows_.back();
    return row_.taps == product_->reduced_ranges.back() && row_.step == 1 &&
           analysis_.stride(image_, row_.along) == 1 &&
           std::ranges::none_of(windows_, [&](const Window& w) { return analysis_.depends(filters_, w.along); });
  }

  bool find_tile() {
    for (UOp r : product_->result_ranges)
      if (is_outer(r) && !analysis_.depends(image_, r) && (!filter_ || analysis_.size(r) > analysis_.size(filter_)))
        filter_ = r;
    if (!filter_ || analysis_.size(filter_) < kMinFilters) return false;
    for (const StatementAnalysis& w : analysis_.statements())
      for (UOp a : w.accesses)
        if (const int64_t stride = analysis_.stride(a, row_.along); !(a == filters_) && stride != 0 && stride != 1)
          return false;
    const int64_t size = analysis_.size(row_.along);
    if (size % state_.lanes) return false;
    // LLVM loads neighbors of one address early: with taps that go backwards, two rows spill what they share.
    const bool two_in_row = size % (kVectors * state_.lanes) == 0;
    if (column() && analysis_.size(column()->along) % kVectors == 0 && !(two_in_row && row_.dilation < 0))
      columns_ = column()->along;
    else if (two_in_row)
      columns_ = row_.along;
    if (!columns_) return false;
    const auto cycles = [&](int tile) { return cycles_of_tiles(analysis_.size(filter_), tile, state_.target); };
    const int most = columns_ == row_.along ? kMaxFiltersOfRow : kMaxFilters;
    for (int tile = kMinFilters + 1; tile <= most; ++tile)
      if (cycles(tile) < cycles(filters_per_tile_)) filters_per_tile_ = tile;
    return true;
  }

  /// Bytes of the tile of a task that covers so many rows and planes.
  int64_t tile_bytes(int64_t rows, int64_t planes) {
    const int64_t columns = round_up(row_.extent(analysis_.size(row_.along)), state_.lanes);
    int64_t bytes = columns * static_cast<int64_t>(size_of(image_->dtype));
    for (UOp r : product_->reduced_ranges)
      if (analysis_.depends(image_, r) && !is_block(r) && is_channel(r)) bytes *= analysis_.size(r);
    return bytes * extent(column(), rows) * extent(plane(), planes);
  }
  /// Bytes of the sums of such a task, if they are carried from block to block: of all filters, at most.
  int64_t carried_bytes(int64_t rows, int64_t planes) {
    return product_->blocks == 0 ? 0
                                 : rows * planes * analysis_.size(row_.along) * analysis_.size(filter_) *
                                       static_cast<int64_t>(size_of(product_->node->dtype));
  }
  bool is_channel(UOp reduced) const {
    return std::ranges::none_of(windows_, [&](const Window& w) { return w.taps == reduced; });
  }
  /// Positions of the image along a window that so many results read; 1 if there is no such window.
  static int64_t extent(const Window* window, int64_t results) { return window ? window->extent(results) : 1; }
  /// Positions that are copied for a result, those between windows that do not meet included.
  static double copied(const Window* window, int64_t results) {
    return window ? static_cast<double>(std::max(window->extent(results), window->step * results)) /
                        static_cast<double>(results)
                  : 1;
  }
  /// The window across the rows; null for images of one axis.
  const Window* column() const { return windows_.size() > 1 ? &windows_.end()[-2] : nullptr; }
  /// The window across the planes; null for images of one or two axes.
  const Window* plane() const { return windows_.size() > 2 ? windows_.data() : nullptr; }

  /// Chooses the rows and planes of a task. Half of the second cache holds what their windows read and the sums that
  /// are carried, the rest is for the filters. A tile is filled with the fewest elements for each result, so it is
  /// about as high as it is deep. If there are fewer tasks than the threads should have, tasks of the same rows share
  /// out the filters. False: not even the smallest tile fits.
  bool choose_task() {
    const auto& target = state_.target;
    const int64_t fewest = fewest_tasks(target);
    int64_t tasks = 1;
    for (UOp r : product_->result_ranges)
      if (is_outer(r) && !(r == filter_) && !(r == row_.along)) tasks *= analysis_.size(r);
    const int64_t step = column() && column()->along == columns_ ? kVectors : 1,
                  all_rows = column() ? analysis_.size(column()->along) : 1,
                  all_planes = plane() ? analysis_.size(plane()->along) : 1;
    const auto fits = [&](int64_t rows, int64_t planes) {
      const int64_t tile = tile_bytes(rows, planes), results = rows * planes;
      if (results == step) return tile <= target.l2 / 2;
      return tile + carried_bytes(rows, planes) <= target.l2 / 2 && tasks / results >= fewest;
    };
    double least = 0;  // elements that are copied for a result
    for (int64_t planes = 1; planes <= all_planes; ++planes) {
      if (all_planes % planes) continue;
      for (int64_t rows = step; rows <= all_rows; rows += step) {
        if (all_rows % rows || !fits(rows, planes)) continue;
        const double elements = copied(column(), rows) * copied(plane(), planes);
        if (rows_ && (elements > least || (elements == least && rows * planes <= rows_ * planes_))) continue;
        least = elements;
        rows_ = rows;
        planes_ = planes;
      }
    }
    if (!rows_) return false;
    tasks /= rows_ * planes_;
    const int64_t filters = analysis_.size(filter_);
    filters_per_task_ =
        round_up(ceil_div(filters, std::clamp<int64_t>(ceil_div(fewest, tasks), 1, filters / filters_per_tile_)),
                 filters_per_tile_);
    return true;
  }
  bool is_block(UOp range) const {
    const auto& all = product_->reduced_ranges;
    return std::ranges::find(all, range) - all.begin() < static_cast<std::ptrdiff_t>(product_->blocks);
  }

  std::vector<Opt> make_opts() {
    const int number = node_index_of(state_.kernel, image_);
    if (number < 0) return {};
    std::vector<Opt> opts{Lanes{range_id(row_.along), state_.lanes}, Unroll{range_id(columns_), kVectors},
                          Unroll{range_id(filter_), filters_per_tile_}, TaskBlock{range_id(filter_), filters_per_task_},
                          TaskBlock{range_id(row_.along), analysis_.size(row_.along)}};
    LoopOrder order;
    const auto add_loop = [&](UOp r) { order.loops.push_back({range_id(r), 0}); };
    for (UOp r : product_->reduced_ranges)
      if (is_block(r)) add_loop(r);
    add_loop(filter_);
    const auto cover = [&](const Window* window, int64_t count) {
      if (!window) return;
      opts.emplace_back(TaskBlock{range_id(window->along), count});
      add_loop(window->along);
    };
    if (planes_ > 1) cover(plane(), planes_);
    cover(column(), rows_);
    add_loop(row_.along);
    TileCopy copy{number, {}};
    for (UOp r : product_->reduced_ranges) {
      if (is_block(r)) continue;
      add_loop(r);
      const auto window = std::ranges::find_if(windows_, [&](const Window& w) { return w.taps == r; });
      if (window != windows_.end())
        copy.dims.push_back({.range = range_id(window->along), .taps = range_id(r)});
      else if (analysis_.depends(image_, r))
        copy.dims.push_back({range_id(r)});
    }
    copy.dims.back().lanes = state_.lanes;
    opts.emplace_back(order);
    opts.emplace_back(copy);
    int64_t body = 1;
    for (size_t i = windows_.size(); i-- > 0;) {
      const int64_t taps = analysis_.size(windows_[i].taps);
      if (body * taps > kMaxUnrolledTaps) break;
      body *= taps;
      opts.push_back(Unroll{range_id(windows_[i].taps), static_cast<int>(taps)});
    }
    return opts;
  }

  TuningState& state_;
  KernelAnalysis& analysis_;
  const StatementAnalysis* product_ = nullptr;
  UOp image_, filters_;
  std::vector<Window> windows_;
  Window row_;
  UOp filter_, columns_;
  int filters_per_tile_ = kMinFilters;
  int64_t rows_ = 0, planes_ = 1, filters_per_task_ = 0;
};

}  // namespace

std::vector<Opt> stage_window_rows(TuningState& state) { return WindowRows(state).run(); }

}  // namespace sinter::codegen
