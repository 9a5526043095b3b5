// The loops of a packed product, outermost first: blocks of the reduced range, rows, columns, then the reduction
// itself. The panel of one block fills half of the second cache while the rows pass. Its columns are stored in the
// order in which a step of the tile reads them. So are rows whose lines would evict one another. Outside of them all go
// the phases of a window with a step, for each of which there is code of its own.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <numeric>

#include "codegen/kernel/common_predicate.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/pack_profitability.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/thread_partition.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using runtime::kCacheLine, runtime::kPage;

/// Bytes between rows from which panels of fewer than kMinPanelLines should be packed, if at least kMinReuseShortRows
/// results of a thread use an element.
constexpr int64_t kMinRowDistance = 8 * kCacheLine;
constexpr int64_t kMinReuseShortRows = 64;  ///< results of a thread per element
/// Approximate depth of a block if the other operand takes a new page for each reduced value.
constexpr int64_t kDepthAcrossPages = 128;
constexpr int64_t kMaxTaskRows = 1024;  ///< rows of a task, at most
/// Rows of a task, at most, if they are overlapping windows, whose blocks are less deep.
constexpr int64_t kMaxTaskWindows = 4096;
constexpr int64_t kMinTaskRows = 96;  ///< rows of a task below which its share of the packing shows
constexpr int64_t kMaxColumns = 512;
/// Tiles of columns that read a row again from which rows are copied.
constexpr int64_t kMinPassesPerRow = 4;
/// Cycles of multiplications behind which a step hides a line of a row that comes from the second cache. Copies of rows
/// take 0.7 of the time on Zen 3 (6 cycles a step), and 1.0 to 1.17 on Zen 4 with AVX-512 (24; both November 2026).
constexpr double kHiddenLineCycles = 12;

/// Phases that have code of their own, at most.
constexpr int64_t kMaxPhases = 4;

class Blocker {
 public:
  Blocker(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& w, const RegisterTile& tile,
          int lanes, const runtime::Target& target)
      : kernel_(kernel), analysis_(analysis), product_(w), tile_(tile), lanes_(lanes), target_(target) {}

  std::vector<Opt> run(bool may_copy_rows, bool may_cut_phases) {
    if (!tile_.lane_range || tile_.transpose_unroll > 1 || product_.chains() > 1 || !is_outer(tile_.lane_range) ||
        !tile_.row_range)
      return {};
    panel_ = find_panel();
    if (!panel_) return {};
    if (may_copy_rows) find_copied_rows();
    if (may_cut_phases) find_phases();
    choose_depth();
    choose_columns();
    choose_rows();
    if (split_) opts_.push_back(Split{range_id(split_), split_step_});
    if (is_outer(tile_.row_range)) opts_.push_back(TaskBlock{range_id(tile_.row_range), rows_});
    for (const TaskBlock& b : other_blocks_) opts_.push_back(b);
    for (UOp phase : phases_) {
      Cut each{range_id(phase), std::vector<int64_t>(static_cast<size_t>(analysis_.size(phase) - 1))};
      std::iota(each.at.begin(), each.at.end(), 1);
      opts_.push_back(TaskBlock{range_id(phase), analysis_.size(phase)});
      opts_.push_back(each);
    }
    opts_.push_back(TaskBlock{range_id(tile_.lane_range), columns_});
    opts_.push_back(order());
    opts_.push_back(tile_copy());
    for (UOp rows : copied_rows_) opts_.push_back(row_copy(rows));
    return opts_;
  }

  /// What run() found: rows that it copies beside the panel, phases that it cuts.
  bool copies_rows() const { return !copied_rows_.empty(); }
  bool cuts_phases() const { return !phases_.empty(); }

  std::optional<TileCopy> pack_whole_operand(UOp& operand) {
    if (!tile_.lane_range || tile_.transpose_unroll > 1 || product_.chains() > 1 || is_outer(tile_.lane_range) ||
        !tile_.row_range)
      return {};
    operand = panel_ = find_panel();
    if (!panel_ || bytes_of(panel_) > target_.l3 / 2 / target_.threads) return {};
    return tile_copy();
  }

 private:
  /// Bytes of an operand for one value of each outer range but that of the lanes: what the rows of a product reread.
  int64_t bytes_of(UOp operand) {
    return analysis_.bytes(operand, [&](UOp r) { return !is_outer(r) || r == tile_.lane_range; });
  }
  /// Bytes from which an operand is packed that could be read without it. A smaller one stays in the second cache,
  /// unless another core takes it from there or its rows share sets. On a Zen 5, 512 x 64 x 1024, whose rows share
  /// sets, takes 0.84 of the time packed (a single matrix, near last cache). `rows`: of all threads.
  int64_t min_bytes_to_pack(UOp operand, int64_t rows) {
    const int64_t matrices = batch_size_of(analysis_, product_, operand, tile_.lane_range), threads = target_.threads,
                  of_thread = rows * std::min(matrices, threads) / threads;
    if (has_short_rows(operand) && of_thread >= kMinReuseShortRows) return target_.l2 / 4;
    const bool many = of_thread >= kMinRowsPerCopy;
    const int64_t usual = many ? large_operand_bytes(target_) : max_resident_bytes(target_);
    const bool crowded = target_.near_l3 && is_outer(tile_.lane_range) && matrices == 1 && rows >= kMinRowsPerCopy &&
                         conflicts_in_sets(analysis_, product_, operand);
    return crowded ? std::min(usual, target_.l2 / 4) : usual;
  }
  /// Whether a step reads little of each of the operand's rows, which are far apart, as with vectors of AVX2. Such a
  /// step touches as many lines, and as many unaligned ones, as a step of wider vectors that reads more. On Zen 3, 120
  /// x 250 x 250 takes 0.9 of the time packed.
  bool has_short_rows(UOp operand) {
    return is_outer(tile_.lane_range) && analysis_.size(tile_.lane_range) > width() &&
           width() * static_cast<int64_t>(size_of(operand->dtype)) < kMinPanelLines * kCacheLine &&
           max_step_bytes(operand, product_.reduced_ranges) >= kMinRowDistance;
  }
  int64_t width() const { return tile_.width(lanes_); }
  /// The largest stride of an operand along some ranges, in bytes.
  int64_t max_step_bytes(UOp operand, const std::vector<UOp>& ranges) {
    int64_t most = 0;
    for (UOp n : ir::topological(operand))
      if (n->op == Op::Load)
        for (UOp r : ranges) most = std::max(most, analysis_.byte_stride(n, r));
    return most;
  }
  bool reads_windows() {
    const std::vector<UOp> values = values_of(product_.node);
    return std::ranges::any_of(
        values, [&](UOp v) { return !(without_predicate(v) == panel_) && has_overlapping_windows(analysis_, v); });
  }
  /// For windows beside the panel: bytes of the lines that one row reads along some ranges. 0 for other operands,
  /// whose lines no other row reads.
  int64_t window_bytes(const std::vector<UOp>& ranges) {
    int64_t bytes = 0;
    for (UOp value : values_of(product_.node)) {
      if (without_predicate(value) == panel_ || !has_overlapping_windows(analysis_, value)) continue;
      for (UOp n : ir::topological(value)) {
        if (n->op != Op::Load) continue;
        std::vector<std::pair<int64_t, int64_t>> steps;  // (stride, count), the nearest first
        for (UOp r : ranges)
          if (const int64_t step = analysis_.byte_stride(n, r); step != 0)
            steps.emplace_back(step == KernelAnalysis::kScattered ? kCacheLine : step, analysis_.size(r));
        std::ranges::sort(steps);
        int64_t span = 1, pieces = 1;
        for (const auto& [step, times] : steps)
          (step <= std::max(span, kCacheLine) ? span += step * (times - 1) : pieces *= times);
        bytes += pieces * round_up(span + kCacheLine / 2, kCacheLine);
      }
    }
    return bytes;
  }
  /// The largest max_step_bytes() of the operands beside the panel.
  int64_t row_step_bytes(const std::vector<UOp>& ranges) {
    int64_t most = 0;
    for (UOp value : values_of(product_.node))
      if (!(without_predicate(value) == panel_)) most = std::max(most, max_step_bytes(value, ranges));
    return most;
  }

  /// The operand along the lanes, if it is worth packing.
  UOp find_panel() {
    for (UOp predicated : values_of(product_.node)) {
      const UOp value = without_predicate(predicated);
      if (!analysis_.depends(value, tile_.lane_range) || analysis_.depends(value, tile_.row_range) ||
          node_index_of(kernel_, value) < 0)
        continue;
      if (tile_.has_own_columns() && analysis_.depends(value, tile_.column_range)) continue;
      if (has_overlapping_windows(analysis_, value)) return {};
      const int64_t results = results_per_element(analysis_, product_, value);
      if (results < min_reuse_to_pack(analysis_, value, tile_.lane_range)) return {};
      if (is_strided(analysis_, value, tile_.lane_range)) return value;
      if (std::ranges::any_of(ir::topological(value), [](UOp n) { return operations_of(n) > 0; })) return value;
      if (bytes_of(value) < min_bytes_to_pack(value, results) || is_packed_in_memory(value)) return {};
      return stays_unpacked(analysis_, product_, tile_, value, lanes_, target_) ? UOp() : value;
    }
    return {};
  }

  /// The operands along the rows that are copied too: many tiles of columns read a row, and the first cache has no room
  /// for what a row reads, since each reduced value takes a line of its own, or since these lines share sets. Factors
  /// of a weight's gradient are such operands. None if a step takes long enough to hide the lines that it waits for.
  void find_copied_rows() {
    if (!is_outer(tile_.row_range) || peel_of(analysis_, product_, tile_, target_) ||
        tile_.rows * tile_.columns >= kHiddenLineCycles * target_.multiplies_per_cycle)
      return;
    for (UOp predicated : values_of(product_.node)) {
      const UOp value = without_predicate(predicated);
      if (value == panel_ || !analysis_.depends(value, tile_.row_range) || node_index_of(kernel_, value) < 0) continue;
      const bool alone = std::ranges::all_of(analysis_.ranges(), [&](UOp r) {
        return r == tile_.row_range || !analysis_.depends(value, r) || contains(product_.reduced_ranges, r) ||
               analysis_.depends(panel_, r);
      });
      if (!alone || analysis_.depends(value, tile_.lane_range) || has_overlapping_windows(analysis_, value) ||
          results_per_element(analysis_, product_, value) < kMinPassesPerRow * width())
        continue;
      const std::vector<UOp> nodes = ir::topological(value);
      if (std::ranges::any_of(
              nodes, [&](UOp n) { return n->op == Op::Load && evicts_own_lines(analysis_, product_, n, target_); }))
        copied_rows_.push_back(value);
    }
  }

  /// The phases of a window with a step: outer ranges that decide which taps there are for a result, and so which part
  /// of the panel it reads. In code for one phase loops over taps have constant bounds. On Zen 2 (December 2026), the
  /// gradient of 64 x 56 x 56 pixels under 128 x 3 x 3 windows with a step of 2 takes 0.7 of the time, under 4 x 4
  /// windows 0.9. A task has all phases, so there must be enough tasks without them.
  void find_phases() {
    const UOp predicate = common_predicate(product_.node);
    if (!predicate) return;
    const bool whole = peel_of(analysis_, product_, tile_, target_).has_value();  // a task holds all rows
    const auto decides = [&](UOp r) {  // by its number alone, as a row of a loaded mask does not
      return analysis_.depends(predicate, r) && std::ranges::none_of(ir::topological(predicate), [&](UOp n) {
               return n->op == Op::Load && analysis_.depends(n, r);
             });
    };
    int64_t phases = 1, tasks = 1;
    for (UOp r : product_.result_ranges) {
      if (!is_outer(r) || r == tile_.lane_range || (whole && r == tile_.row_range)) continue;
      const int64_t size = analysis_.size(r);
      const bool is_phase = has_static_size(r) && size * phases <= kMaxPhases && !(r == tile_.row_range) &&
                            !(r == tile_.column_range) && analysis_.depends(panel_, r) && decides(r);
      (is_phase ? phases : tasks) *= size;
      if (is_phase) phases_.push_back(r);
    }
    if (tasks < (whole ? 1 : tile_.rows) * fewest_tasks(target_)) phases_.clear();
  }

  /// Whether memory already holds an operand as a tile would: in panels, and each thread has panels of its own.
  bool is_packed_in_memory(UOp operand) {
    return operand->op == Op::Load && analysis_.size(tile_.lane_range) <= width() &&
           analysis_.stride(operand, product_.reduced_ranges.back()) == analysis_.size(tile_.lane_range) &&
           batch_size_of(analysis_, product_, operand, tile_.lane_range) >= target_.threads;
  }

  /// Chooses the reduced range to split, and its step. Ranges inside stay whole, those outside carry the accumulators.
  /// Blocks are as deep as the columns of one step allow: accumulators are reloaded from addresses that no core
  /// predicts, while rows are read from one end to the other.
  void choose_depth() {
    int64_t all = 1;
    for (UOp r : product_.reduced_ranges) all *= analysis_.size(r);
    const int64_t columns = std::min(analysis_.size(tile_.lane_range), kMaxColumns),
                  room = target_.l2 / 2 / static_cast<int64_t>(size_of(panel_->dtype));
    const bool fits = all * columns <= room;
    outer_reductions_ = product_.reduced_ranges.size();
    for (block_depth_ = 1; outer_reductions_ > 0; --outer_reductions_) {
      UOp range = product_.reduced_ranges[outer_reductions_ - 1];
      const int64_t size = analysis_.size(range);
      int64_t wanted = std::clamp<int64_t>(room / width(), lanes_, kMaxBlockDepth);
      // The result of a block of the sum's ReductionTree is carried in any case. A block that is not split carries
      // nothing more.
      const bool block = product_.blocks > 0 && outer_reductions_ - 1 == product_.blocks;
      if (copies_rows()) wanted = std::min(wanted, room / kMaxColumns);
      if (row_step_bytes({range}) >= kPage) wanted = std::min(wanted, kDepthAcrossPages * (block ? block_depth_ : 1));
      const std::vector<UOp> inside(product_.reduced_ranges.begin() + static_cast<std::ptrdiff_t>(outer_reductions_),
                                    product_.reduced_ranges.end());
      if (const int64_t lines = tile_.rows * window_bytes(inside);
          lines > 0)  // these lines wait in the cache for neighboring rows
        wanted =
            std::clamp<int64_t>(block_depth_ * (target_.l2 / 8) /
                                    (block_depth_ * width() * static_cast<int64_t>(size_of(panel_->dtype)) + lines),
                                1, wanted);
      if (block_depth_ * size <= (fits ? kMaxBlockDepth : block ? wanted * 2 : wanted * 3 / 2)) {
        block_depth_ *= size;
        continue;
      }
      // Blocks of about the wanted depth, in whole vectors if the range may be contiguous in memory.
      const int64_t blocks = ceil_div(block_depth_ * size, wanted);
      int64_t step = ceil_div(size, blocks);
      if (block_depth_ == 1) step = round_up(step, lanes_);
      if (step > 1 && step < size) {
        split_ = range;
        split_step_ = step;
        block_depth_ *= step;
      } else if (step >= size) {
        block_depth_ *= size;
        continue;
      }
      break;
    }
  }

  /// Tasks whatever the columns. Tasks of few rows do not count, because each would pack the panel once more.
  int64_t tasks_of_rows() {
    int64_t rows = 1;
    for (UOp r : product_.result_ranges)
      if (is_outer(r) && !(r == tile_.lane_range) && !analysis_.depends(panel_, r)) rows *= analysis_.size(r);
    int64_t panels = batch_size_of(analysis_, product_, panel_, tile_.lane_range);
    for (UOp phase : phases_) panels /= analysis_.size(phase);
    return panels * std::max<int64_t>(rows / kMinTaskRows, 1);
  }

  void choose_columns() {
    const int64_t size = analysis_.size(tile_.lane_range), step = width();
    const int64_t room = target_.l2 / 2 / (block_depth_ * static_cast<int64_t>(size_of(panel_->dtype)));
    if (size <= room && is_outer(tile_.row_range) &&
        analysis_.size(tile_.row_range) >= kMinTaskRows * target_.threads) {
      columns_per_task_ = columns_per_task(analysis_, product_, tile_, lanes_, target_);
      columns_ = columns_per_task_ > 0 ? columns_per_task_ : round_up(size, step);  // else threads split the rows
      return;
    }
    const int64_t most = std::clamp(std::min(room, kMaxColumns) / step * step, step, round_up(size, step));
    // Blocks of columns, each of which packs its own.
    const int64_t row_tasks = tasks_of_rows(), fewest = ceil_div(int64_t{target_.threads}, row_tasks);
    columns_ = round_up(ceil_div(size, std::max(fewest, ceil_div(size, most))), step);
    if (row_tasks == 1 && target_.threads > 1)
      columns_ = lanes_ * even_task(ceil_div(size, lanes_), step / lanes_, most / lanes_, target_.threads);
  }

  /// Covers rows that are near each other in memory first, because they read the same lines: ranges nearer than the
  /// tile's. Then blocks of the tile's rows that split evenly among the threads, if each thread gets enough rows. Then
  /// the other ranges.
  void choose_rows() {
    int64_t tasks = ceil_div(analysis_.size(tile_.lane_range), columns_);
    std::vector<UOp> near, far;  // outer ranges on which the panel does not depend
    for (UOp r : product_.result_ranges) {
      if (!is_outer(r) || r == tile_.row_range || r == tile_.column_range || r == tile_.lane_range ||
          contains(phases_, r))
        continue;
      tasks *= analysis_.size(r);
      if (analysis_.depends(panel_, r)) continue;
      (is_outer(tile_.row_range) && row_step_bytes({r}) < row_step_bytes({tile_.row_range}) ? near : far).push_back(r);
    }
    // Each task packs its panels once, so there are few tasks, as long as all threads have work. Where packing shows,
    // one for each thread is enough. `tiles`: tasks of the row range among `tasks`, which become fewer below.
    const int64_t most_rows = reads_windows() ? kMaxTaskWindows : kMaxTaskRows;
    int64_t covered = is_outer(tile_.row_range) ? tile_.rows : analysis_.size(tile_.row_range);
    if (tile_.has_own_columns()) covered *= tile_.columns;
    auto cover = [&](const std::vector<UOp>& ranges, int64_t tiles) {
      for (size_t i = ranges.size(); i-- > 0 && covered < most_rows;) {
        const int64_t size = analysis_.size(ranges[i]), most = std::min(size, ceil_div(most_rows, covered));
        const auto largest_block = [&](int64_t all, int64_t fewest) {
          int64_t block = 1;
          for (int64_t b = 2; b <= most; ++b)
            if (size % b == 0 && all / b >= fewest) block = b;
          return block;
        };
        int64_t block = largest_block(tasks, fewest_tasks(target_));
        if (covered * block < kMinTaskRows) block = std::max(block, largest_block(tasks / tiles, target_.threads));
        if (block == 1) continue;
        other_blocks_.push_back({range_id(ranges[i]), block});
        tasks /= block;
        covered *= block;
      }
    };
    if (is_outer(tile_.row_range)) {
      const int64_t size = analysis_.size(tile_.row_range), tiles = ceil_div(size, tile_.rows);
      const bool whole = peel_of(analysis_, product_, tile_, target_).has_value();  // a task holds both edges
      const int64_t row_tasks = whole ? 1 : tiles;
      tasks *= row_tasks;
      cover(near, row_tasks);
      tasks /= row_tasks;
      const int64_t each = covered / tile_.rows;  // rows per value of the tile's range
      const bool one = whole || columns_per_task_ > 0;
      int64_t blocks = one ? 1 : ceil_div(size, std::max<int64_t>(most_rows / each, tile_.rows));
      while (!one && (blocks * tasks) % target_.threads && ceil_div(size, blocks + 1) * each >= kMinTaskRows) ++blocks;
      rows_ = round_up(ceil_div(size, blocks), tile_.rows);
      tasks *= blocks;
      covered = rows_ * each;
    }
    cover(far, 1);
  }

  /// Rows that are far apart go outside of rows that are near: the lines of one tile's rows also hold the next rows.
  Opt order() {
    LoopOrder order;
    for (UOp phase : phases_) order.loops.push_back({range_id(phase), 0});
    const size_t whole = outer_reductions_ - (split_ ? 1 : 0);  // reduced ranges from here on are inside a block
    for (size_t i = 0; i < outer_reductions_; ++i) order.loops.push_back({range_id(product_.reduced_ranges[i]), 0});
    std::vector<UOp> rows;
    for (UOp r : product_.result_ranges)
      if (r == tile_.row_range ||
          std::ranges::any_of(other_blocks_, [r](const TaskBlock& b) { return b.range == range_id(r); }))
        rows.insert(std::ranges::find_if(rows, [&](UOp b) { return row_step_bytes({b}) < row_step_bytes({r}); }), r);
    for (UOp r : rows) order.loops.push_back({range_id(r), 0});
    order.loops.push_back({range_id(tile_.lane_range), 0});
    for (size_t i = whole; i < product_.reduced_ranges.size(); ++i)
      order.loops.push_back({range_id(product_.reduced_ranges[i]), product_.reduced_ranges[i] == split_ ? 1 : 0});
    return order;
  }

  /// Values of a range that are transposed in registers at a time. A row of one vector and a remainder is transposed
  /// in halves, each of which takes as many instructions as its share of a whole vector. This needs one loop body and
  /// a short remainder or none, instead of two bodies.
  int transpose_width(int64_t size) const { return size > lanes_ && size < 2 * lanes_ ? lanes_ / 2 : lanes_; }

  /// The tile of the panel, in the order in which the reduction reads it: the columns of a panel for each reduced
  /// value.
  TileCopy tile_copy() {
    TileCopy tile_copy{node_index_of(kernel_, panel_), {}, static_cast<int>(width())};
    if (!is_outer(tile_.lane_range))  // the whole operand; the lanes may run along one block of it
      for (UOp r : product_.result_ranges)
        if (!is_outer(r) && !(r == tile_.lane_range) && analysis_.depends(panel_, r))
          tile_copy.dims.push_back({range_id(r), -1});
    UOp contiguous;  // the range along which the operand is contiguous, unless it is that of the lanes
    for (UOp n : ir::topological(panel_))
      if (n->op == Op::Load && analysis_.depends(n, tile_.lane_range) && analysis_.stride(n, tile_.lane_range) != 1)
        for (UOp r : product_.reduced_ranges)
          if (analysis_.stride(n, r) == 1) contiguous = r;
    for (TileCopy::CopyDim dim : block_dims(panel_)) {
      if (contiguous && dim.range == range_id(contiguous) && (dim.level < 0 || split_step_ % lanes_ == 0))
        dim.unroll = transpose_width(analysis_.size(contiguous));
      tile_copy.dims.push_back(dim);
    }
    TileCopy::CopyDim last{range_id(tile_.lane_range), -1, lanes_};
    if (!contiguous) last.unroll = static_cast<int>(width()) / lanes_;
    tile_copy.dims.push_back(last);
    return tile_copy;
  }
  /// The copy of rows, those of a tile side by side for each reduced value.
  TileCopy row_copy(UOp rows) {
    TileCopy copy{node_index_of(kernel_, rows), block_dims(rows), tile_.rows};
    copy.dims.push_back({range_id(tile_.row_range), -1, 1, tile_.rows});
    return copy;
  }
  /// The reduced values of a block on which an operand depends.
  std::vector<TileCopy::CopyDim> block_dims(UOp operand) {
    std::vector<TileCopy::CopyDim> dims;
    for (size_t i = outer_reductions_ - (split_ ? 1 : 0); i < product_.reduced_ranges.size(); ++i)
      if (UOp r = product_.reduced_ranges[i]; analysis_.depends(operand, r))
        dims.push_back({range_id(r), r == split_ ? 0 : -1});
    return dims;
  }

  const Kernel& kernel_;
  KernelAnalysis& analysis_;
  const StatementAnalysis& product_;
  const RegisterTile& tile_;
  const int lanes_;
  const runtime::Target& target_;
  UOp panel_, split_;
  std::vector<UOp> copied_rows_, phases_;
  size_t outer_reductions_ = 0;          ///< reduced ranges with loops outside the panel, including split_
  std::vector<TaskBlock> other_blocks_;  ///< of outer ranges beside the tile's
  int64_t split_step_ = 0;               ///< values of split_ in a block
  int64_t block_depth_ = 1;              ///< reduced values in a block
  int64_t columns_ = 0, rows_ = 0;
  int64_t columns_per_task_ = 0;  ///< columns_per_task(), if threads could split either
  std::vector<Opt> opts_;
};

}  // namespace

std::vector<std::vector<Opt>> block_product(const Kernel& kernel, KernelAnalysis& analysis,
                                            const StatementAnalysis& product, const RegisterTile& tile, int lanes,
                                            const runtime::Target& target) {
  std::vector<std::vector<Opt>> proposals;
  for (const bool cut_phases : {true, false}) {
    bool found_phases = false;
    for (const bool copy_rows : {true, false}) {
      Blocker blocker(kernel, analysis, product, tile, lanes, target);
      proposals.push_back(blocker.run(copy_rows, cut_phases));
      if (proposals.back().empty()) return {};
      found_phases = blocker.cuts_phases();
      if (!blocker.copies_rows()) break;
    }
    if (!found_phases) break;
  }
  return proposals;
}

std::optional<TileCopy> pack_operand(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                     const RegisterTile& tile, int lanes, const runtime::Target& target, UOp& operand) {
  return Blocker(kernel, analysis, product, tile, lanes, target).pack_whole_operand(operand);
}

}  // namespace sinter::codegen
