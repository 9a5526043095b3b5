// The loops of a packed product, outermost first: blocks of what it sums, rows, columns, then the sum itself. The panel
// of one block lies in half of the second cache while the rows pass; its columns lie together as one step of the tile
// reads them.
#include "codegen/tune/heuristic/blocking.h"

#include <algorithm>

#include "codegen/kernel/ceil_div.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/normalize/predicates.h"
#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/pack_profitability.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/thread_partition.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;
using runtime::kLine, runtime::kPage;

constexpr int64_t kReuse =
    16;  ///< results that share an element, from which copying it pays where it could be read as it lies
constexpr int64_t kApart =
    8 * kLine;  ///< from one row to the next, where panels of fewer than kFewestLines are worse to read as they lie,
constexpr int64_t kReuseNarrow = 64;  ///< if so many results of a thread share an element
constexpr int64_t kDeepStrided =
    128;  ///< summed values in one block, about, where the other operand takes a new page for each of them
constexpr int64_t kMostRows = 1024;  ///< of a point,
constexpr int64_t kMostWindows =
    4096;                             ///< or of one whose rows are windows that overlap, and whose blocks are less deep
constexpr int64_t kRowsOfPoint = 96;  ///< of a point, below which its share of copying shows
constexpr int64_t kMostColumns = 512;
constexpr int64_t kTurns = 2;  ///< points for each of several threads, so that all end at about the same time

class Blocker {
 public:
  Blocker(const Kernel& kernel, View& view, const Work& w, const RegisterTile& tile, int lanes,
          const runtime::Target& target)
      : kernel_(kernel), view_(view), w_(w), tile_(tile), lanes_(lanes), target_(target) {}

  std::vector<Opt> run() {
    if (!tile_.lanes || tile_.turned > 1 || w_.chains() > 1 || !is_outer(tile_.lanes) || !tile_.first) return {};
    panel_ = find_panel();
    if (!panel_) return {};
    choose_depth();
    choose_columns();
    choose_rows();
    if (split_) opts_.push_back(Split{range_id(split_), depth_});
    if (is_outer(tile_.first)) opts_.push_back(Block{range_id(tile_.first), rows_});
    for (const Block& b : others_) opts_.push_back(b);
    opts_.push_back(Block{range_id(tile_.lanes), columns_});
    opts_.push_back(order());
    opts_.push_back(stage());
    return opts_;
  }

  std::optional<Stage> run_inner(UOp& operand) {
    if (!tile_.lanes || tile_.turned > 1 || w_.chains() > 1 || is_outer(tile_.lanes) || !tile_.first) return {};
    operand = panel_ = find_panel();
    if (!panel_ || bytes_of(panel_) > target_.l3 / 2 / target_.threads) return {};
    return stage();
  }

 private:
  /// Of an operand, for one value of each outer range but that of the lanes: what the rows of a product read again and
  /// again.
  int64_t bytes_of(UOp operand) {
    return view_.bytes(operand, [&](UOp r) { return !is_outer(r) || r == tile_.lanes; });
  }
  /// Bytes from which an operand is copied that could be read as it lies: less stays in the second cache, if no other
  /// core takes it from there and its rows do not share sets (512 x 64 x 1024 takes 0.84 of the time in copies on a Zen
  /// 5; for a single matrix, near last caches). `rows`: of all threads.
  int64_t fewest_to_copy(UOp operand, int64_t rows) {
    const int64_t matrices = matrices_of(view_, w_, operand, tile_.lanes), threads = target_.threads,
                  of_thread = rows * std::min(matrices, threads) / threads;
    if (is_narrow(operand) && of_thread >= kReuseNarrow) return target_.l2 / 4;
    const bool many = of_thread >= kRowsOfCopy;
    const int64_t usual = many ? large_operand(target_) : most_beside_rows(target_);
    const bool crowded = target_.near_l3 && is_outer(tile_.lanes) && matrices == 1 && rows >= kRowsOfCopy &&
                         share_sets(view_, w_, operand);
    return crowded ? std::min(usual, target_.l2 / 4) : usual;
  }
  /// Whether a step reads little of each of the operand's rows, which lie apart, as with vectors of AVX2: it goes
  /// through as many lines, and as many that begin within one, as with wider vectors through more. In copies 120 x 250
  /// x 250 takes 0.9 of the time on Zen 3, a batch of 256 x 256 x 256 0.81 to 0.95; 200 x 200 x 200, whose rows are
  /// whole vectors, 1, and 128 x 128 x 128 1.04.
  bool is_narrow(UOp operand) {
    return is_outer(tile_.lanes) && view_.size(tile_.lanes) > width() &&
           width() * static_cast<int64_t>(size_of(operand->dtype)) < kFewestLines * kLine &&
           step_bytes(operand, w_.own) >= kApart;
  }
  int64_t width() const { return tile_.width(lanes_); }
  /// Most that an operand moves in memory, in bytes, when one of some ranges goes on by one.
  int64_t step_bytes(UOp operand, const std::vector<UOp>& ranges) {
    int64_t most = 0;
    for (UOp n : ir::topological(operand))
      if (n->op == Op::Load)
        for (UOp r : ranges) most = std::max(most, view_.byte_stride(n, r));
    return most;
  }
  bool windows() {
    const std::vector<UOp> values = values_of(w_.node);
    return std::any_of(values.begin(), values.end(),
                       [&](UOp v) { return !(without_gate(v) == panel_) && overlaps(view_, v); });
  }
  /// Of windows beside the panel: bytes of the lines on which those elements lie that one row reads along some ranges;
  /// 0 for others, whose lines no other row reads.
  int64_t window_bytes(const std::vector<UOp>& ranges) {
    int64_t bytes = 0;
    for (UOp value : values_of(w_.node)) {
      if (without_gate(value) == panel_ || !overlaps(view_, value)) continue;
      for (UOp n : ir::topological(value)) {
        if (n->op != Op::Load) continue;
        std::vector<std::pair<int64_t, int64_t>> steps;  // how far, how often: the nearest first
        for (UOp r : ranges)
          if (const int64_t step = view_.byte_stride(n, r); step != 0)
            steps.emplace_back(step == View::kScattered ? kLine : step, view_.size(r));
        std::sort(steps.begin(), steps.end());
        int64_t span = 1, pieces = 1;
        for (const auto& [step, times] : steps)
          (step <= std::max(span, kLine) ? span += step * (times - 1) : pieces *= times);
        bytes += pieces * round_up(span + kLine / 2, kLine);
      }
    }
    return bytes;
  }
  /// step_bytes() of the operands beside the panel, the most.
  int64_t step_of_rows(const std::vector<UOp>& ranges) {
    int64_t most = 0;
    for (UOp value : values_of(w_.node))
      if (!(without_gate(value) == panel_)) most = std::max(most, step_bytes(value, ranges));
    return most;
  }

  /// The operand along the lanes, if it is worth a tile.
  UOp find_panel() {
    for (UOp gated : values_of(w_.node)) {
      const UOp value = without_gate(gated);
      if (!view_.depends(value, tile_.lanes) || view_.depends(value, tile_.first) || number_of(kernel_, value) < 0)
        continue;
      if (tile_.has_other() && view_.depends(value, tile_.second)) continue;
      if (overlaps(view_, value)) return {};
      const int64_t results = reuse_of(view_, w_, value);
      bool strided = false;
      double operations = 0;
      for (UOp n : ir::topological(value)) {
        operations += operations_of(n);
        if (n->op == Op::Load) strided |= view_.depends(n, tile_.lanes) && view_.stride(n, tile_.lanes) != 1;
      }
      if (strided && results >= kReuseStrided) return value;
      if (results < kReuse) return {};
      if (operations > 0) return value;
      if (bytes_of(value) < fewest_to_copy(value, results) || is_panel(value)) return {};
      return stays_as_it_lies(view_, w_, tile_, value, lanes_, target_) ? UOp() : value;
    }
    return {};
  }

  /// Whether memory holds an operand as a tile would, in panels of which each thread has its own.
  bool is_panel(UOp operand) {
    return operand->op == Op::Load && view_.size(tile_.lanes) <= width() &&
           view_.stride(operand, w_.own.back()) == view_.size(tile_.lanes) &&
           matrices_of(view_, w_, operand, tile_.lanes) >= target_.threads;
  }

  /// Which of the summed ranges is cut, and where: those inside stay whole, those outside are carried over. Blocks are
  /// as deep as the columns of one step allow: what is carried is read again at places that no core foresees, and rows
  /// from one end to the other.
  void choose_depth() {
    int64_t all = 1;
    for (UOp r : w_.own) all *= view_.size(r);
    const int64_t columns = std::min(view_.size(tile_.lanes), kMostColumns),
                  room = target_.l2 / 2 / static_cast<int64_t>(size_of(panel_->dtype));
    const bool fits = all * columns <= room;
    carried_ = w_.own.size();
    for (deep_ = 1; carried_ > 0; --carried_) {
      UOp range = w_.own[carried_ - 1];
      const int64_t size = view_.size(range);
      int64_t wanted = std::clamp<int64_t>(room / width(), lanes_, kDeepest);
      // What a block of the sum's Tree comes to is carried in any case: one that is not cut carries nothing more.
      const bool block = w_.blocks > 0 && carried_ - 1 == w_.blocks;
      if (step_of_rows({range}) >= kPage) wanted = std::min(wanted, kDeepStrided * (block ? deep_ : 1));
      const std::vector<UOp> inside(w_.own.begin() + static_cast<std::ptrdiff_t>(carried_), w_.own.end());
      if (const int64_t lines = tile_.rows * window_bytes(inside);
          lines > 0)  // which wait in the cache for the rows nearby
        wanted = std::clamp<int64_t>(
            deep_ * (target_.l2 / 8) / (deep_ * width() * static_cast<int64_t>(size_of(panel_->dtype)) + lines), 1,
            wanted);
      if (deep_ * size <= (fits ? kDeepest : block ? wanted * 2 : wanted * 3 / 2)) {
        deep_ *= size;
        continue;
      }
      // Blocks of about the wanted depth; of vectors, where the range may lie along memory.
      const int64_t blocks = ceil_div(deep_ * size, wanted);
      int64_t step = ceil_div(size, blocks);
      if (deep_ == 1) step = round_up(step, lanes_);
      if (step > 1 && step < size) {
        split_ = range;
        depth_ = step;
        deep_ *= step;
      } else if (step >= size) {
        deep_ *= size;
        continue;
      }
      break;
    }
  }

  /// Whether there are points enough whatever the columns: a point of few rows is none, since it would copy the panel
  /// once more.
  bool shared_by_threads() {
    int64_t rows = 1;
    for (UOp r : w_.outs)
      if (is_outer(r) && !(r == tile_.lanes) && !view_.depends(panel_, r)) rows *= view_.size(r);
    return matrices_of(view_, w_, panel_, tile_.lanes) * ceil_div(rows, kRowsOfPoint) >= target_.threads;
  }

  void choose_columns() {
    const int64_t size = view_.size(tile_.lanes), step = width();
    const int64_t room = target_.l2 / 2 / (deep_ * static_cast<int64_t>(size_of(panel_->dtype)));
    if (size <= room && is_outer(tile_.first) && view_.size(tile_.first) >= kRowsOfPoint * target_.threads) {
      own_ = own_columns(view_, w_, tile_, lanes_, target_);
      columns_ = own_ > 0 ? own_ : round_up(size, step);  // else threads share the rows
      return;
    }
    columns_ = std::clamp(std::min(room, kMostColumns) / step * step, step, round_up(size, step));
    const int64_t fewest = shared_by_threads() ? 1 : target_.threads;  // blocks, each of which copies its own columns
    columns_ = round_up(ceil_div(size, std::max(fewest, ceil_div(size, columns_))), step);
  }

  /// Rows near each other in memory first, which read the same lines: ranges nearer than the tile's, then as many
  /// blocks of that as share the threads evenly, if they can have some rows each, then the others.
  void choose_rows() {
    int64_t points = ceil_div(view_.size(tile_.lanes), columns_);
    std::vector<UOp> near, far;  // outer ranges along which the panel is the same
    for (UOp r : w_.outs) {
      if (!is_outer(r) || r == tile_.first || r == tile_.second || r == tile_.lanes) continue;
      points *= view_.size(r);
      if (view_.depends(panel_, r)) continue;
      (is_outer(tile_.first) && step_of_rows({r}) < step_of_rows({tile_.first}) ? near : far).push_back(r);
    }
    // Panels are copied once for each point: rather few of those, as long as all threads have work.
    const int64_t fewest = target_.threads > 1 ? kTurns * target_.threads : 1;
    const int64_t most_rows = windows() ? kMostWindows : kMostRows;
    int64_t covered = is_outer(tile_.first) ? tile_.rows : view_.size(tile_.first);
    if (tile_.has_other()) covered *= tile_.columns;
    auto cover = [&](const std::vector<UOp>& ranges) {
      for (size_t i = ranges.size(); i-- > 0 && covered < most_rows;) {
        const int64_t size = view_.size(ranges[i]), most = std::min(size, ceil_div(most_rows, covered));
        int64_t block = 1;
        for (int64_t b = 2; b <= most; ++b)
          if (size % b == 0 && points / b >= fewest) block = b;
        if (block == 1) continue;
        others_.push_back({range_id(ranges[i]), block});
        points /= block;
        covered *= block;
      }
    };
    if (is_outer(tile_.first)) {
      const int64_t size = view_.size(tile_.first), tiles = ceil_div(size, tile_.rows);
      const bool whole = peel_of(view_, w_, tile_, target_).has_value();  // a point holds both edges
      points *= whole ? 1 : tiles;
      cover(near);
      points /= whole ? 1 : tiles;
      const int64_t each = covered / tile_.rows;  // rows for a value of the tile's range
      const bool one = whole || own_ > 0;
      int64_t blocks = one ? 1 : ceil_div(size, std::max<int64_t>(most_rows / each, tile_.rows));
      while (!one && (blocks * points) % target_.threads && ceil_div(size, blocks + 1) * each >= kRowsOfPoint) ++blocks;
      rows_ = round_up(ceil_div(size, blocks), tile_.rows);
      points *= blocks;
      covered = rows_ * each;
    }
    cover(far);
  }

  /// Rows that lie far from each other outside those that lie near: the lines of one tile's rows hold those of the next
  /// ones.
  Opt order() {
    Order order;
    const size_t whole = carried_ - (split_ ? 1 : 0);  // those from which each value is a block
    for (size_t i = 0; i < carried_; ++i) order.loops.push_back({range_id(w_.own[i]), 0});
    std::vector<UOp> rows;
    for (UOp r : w_.outs)
      if (r == tile_.first ||
          std::any_of(others_.begin(), others_.end(), [r](const Block& b) { return b.range == range_id(r); }))
        rows.insert(
            std::find_if(rows.begin(), rows.end(), [&](UOp b) { return step_of_rows({b}) < step_of_rows({r}); }), r);
    for (UOp r : rows) order.loops.push_back({range_id(r), 0});
    order.loops.push_back({range_id(tile_.lanes), 0});
    for (size_t i = whole; i < w_.own.size(); ++i)
      order.loops.push_back({range_id(w_.own[i]), w_.own[i] == split_ ? 1 : 0});
    return order;
  }

  /// Values of a range that are transposed in registers at a time. Those of a row of one vector and a rest go by
  /// halves, of which each takes as many instructions as its part of a whole: one text, and a short rest or none,
  /// instead of two.
  int turned_at_once(int64_t size) const { return size > lanes_ && size < 2 * lanes_ ? lanes_ / 2 : lanes_; }

  /// Memory in the order in which the sum goes through it: for each of its values a panel's columns.
  Stage stage() {
    Stage stage{number_of(kernel_, panel_), {}, static_cast<int>(width())};
    if (!is_outer(tile_.lanes))  // all of the operand, of which the lanes may go along one block
      for (UOp r : w_.outs)
        if (!is_outer(r) && !(r == tile_.lanes) && view_.depends(panel_, r)) stage.dims.push_back({range_id(r), -1});
    int64_t contiguous = -1;  // the range along which the operand lies side by side, if not the lanes'
    for (UOp n : ir::topological(panel_))
      if (n->op == Op::Load && view_.stride(n, tile_.lanes) != 1)
        for (UOp r : w_.own)
          if (view_.stride(n, r) == 1) contiguous = range_id(r);
    for (size_t i = carried_ - (split_ ? 1 : 0); i < w_.own.size(); ++i) {
      UOp r = w_.own[i];
      if (!view_.depends(panel_, r)) continue;
      Stage::Dim dim{range_id(r), r == split_ ? 0 : -1};
      if (range_id(r) == contiguous && (dim.level < 0 || depth_ % lanes_ == 0))
        dim.unroll = turned_at_once(view_.size(r));
      stage.dims.push_back(dim);
    }
    Stage::Dim last{range_id(tile_.lanes), -1, lanes_};
    if (contiguous < 0) last.unroll = static_cast<int>(width()) / lanes_;
    stage.dims.push_back(last);
    return stage;
  }

  const Kernel& kernel_;
  View& view_;
  const Work& w_;
  const RegisterTile& tile_;
  const int lanes_;
  const runtime::Target& target_;
  UOp panel_, split_;
  size_t carried_ = 0;         ///< how many of the summed ranges have loops outside the panel, split_ among them
  std::vector<Block> others_;  ///< of outer ranges beside the tile's
  int64_t depth_ = 0;          ///< values of split_ in a block
  int64_t deep_ = 1;           ///< summed values in a block
  int64_t columns_ = 0, rows_ = 0;
  int64_t own_ = 0;  ///< own_columns(), where threads could share either
  std::vector<Opt> opts_;
};

}  // namespace

std::vector<Opt> block_product(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile,
                               int lanes, const runtime::Target& target) {
  return Blocker(kernel, view, product, tile, lanes, target).run();
}

std::optional<Stage> stage_operand(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile,
                                   int lanes, const runtime::Target& target, UOp& operand) {
  return Blocker(kernel, view, product, tile, lanes, target).run_inner(operand);
}

}  // namespace sinter::codegen
