// Where memory is contiguous along a range, lanes along it make one instruction of as many elements.
#include "codegen/tune/heuristic/vector_lanes.h"

#include <algorithm>

#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr double kTransposedElement = 0.75;  ///< cycles per element that is transposed in registers
constexpr int64_t kMinTransposed = 4;        ///< unrolled copies that this takes
/// Cycles that lanes along a range save, at least, as a share of what runs over it: all of that gets the unrolled
/// copies of the vectors, and tasks of so many values.
constexpr double kMinSaved = 1e-3;
constexpr double kOrderedAdd = 2;  ///< extra cycles per element of a sum whose lanes are added in order

class LaneChooser {
 public:
  LaneChooser(KernelAnalysis& analysis, int lanes, const std::vector<UOp>& fixed, const std::vector<UOp>& taken)
      : analysis_(analysis), lanes_(lanes), fixed_(fixed), vectors_(taken), before_(taken.size()) {}

  /// Takes ranges one by one: the one that saves most or, `by_loss`, the one without which its statements would lose
  /// most. Returns the cycles saved.
  double take(bool by_loss) {
    double total = 0;
    while (true) {
      std::vector<UOp> open;
      for (UOp r : analysis_.ranges())
        if (!contains(vectors_, r) && !contains(fixed_, r) && !conflicts_with_lanes(r)) open.push_back(r);
      std::vector<double> gain(open.size()), loss(open.size()), each(open.size()), all(open.size());
      for (const StatementAnalysis& w : analysis_.statements()) {
        double first = 0, second = 0;  // the best and the second best savings for the statement
        for (size_t i = 0; i < open.size(); ++i) {
          gain[i] += each[i] = cycles_saved(w, open[i]);
          if (w.runs_over(open[i])) all[i] += w.iterations * element_cycles(w, {});
          second = std::max(second, std::min(first, each[i]));
          first = std::max(first, each[i]);
        }
        for (size_t i = 0; i < open.size() && by_loss; ++i)
          if (w.runs_over(open[i])) loss[i] += each[i] - (each[i] == first ? second : first);
      }
      int best = -1;
      for (int i = 0; i < static_cast<int>(open.size()); ++i)
        if (gain[i] > kMinSaved * all[i] &&
            (best < 0 || std::pair(loss[i], gain[i]) > std::pair(loss[best], gain[best])))
          best = i;
      if (best < 0) break;
      total += gain[best];
      vectors_.push_back(open[best]);
    }
    return total;
  }
  std::vector<UOp> made() const { return {vectors_.begin() + static_cast<std::ptrdiff_t>(before_), vectors_.end()}; }

 private:
  /// Lanes that the vectors along a range use on average: the last vector may be partial.
  double average_lanes(UOp range) const {
    const int64_t size = analysis_.size(range);
    return static_cast<double>(size) / static_cast<double>(ceil_div(size, lanes_));
  }
  /// Cycles per element with lanes along a range, or without any.
  double element_cycles(const StatementAnalysis& w, UOp range) {
    double vector = 0, scalar = 0;
    for (UOp a : w.accesses) {
      const int64_t stride = range ? analysis_.lane_stride(a, range) : 0;
      if (stride == 0 || stride == 1)
        vector += 1;
      else
        scalar += std::min(can_transpose(w, a, range) ? kTransposedElement : kGather,
                           strided_load_cycles(a->op == Op::Load ? stride : 0, lanes_) / lanes_);
    }
    if (range && contains(w.reduced_ranges, range) && w.chains() == 1) scalar += kOrderedAdd;
    return (vector + w.operations) / (range ? average_lanes(range) : 1) + scalar;
  }
  /// Whether an access that is strided along the lanes of results is contiguous along another range of the statement.
  /// Unrolled along that range, it is transposed in registers.
  bool can_transpose(const StatementAnalysis& w, UOp access, UOp lanes) {
    return contains(w.result_ranges, lanes) && std::ranges::any_of(analysis_.ranges(), [&](UOp r) {
             return !(r == lanes) && w.runs_over(r) && !contains(fixed_, r) && analysis_.size(r) >= kMinTransposed &&
                    analysis_.stride(access, r) == 1;
           });
  }
  /// Cycles that lanes along the range save a statement.
  double cycles_saved(const StatementAnalysis& w, UOp range) {
    if (!w.runs_over(range) || has_own_lanes(w, range) || conflicts_with_lanes(w)) return 0;
    return w.iterations * (element_cycles(w, {}) - element_cycles(w, range)) *
           std::min(1.0, static_cast<double>(analysis_.size(range)) / 4);
  }
  bool conflicts_with_lanes(UOp range) const {
    return std::ranges::any_of(analysis_.statements(), [&](const StatementAnalysis& w) {
      return std::ranges::any_of(vectors_, [&](UOp v) { return lanes_conflict(w, range, v); });
    });
  }
  /// Whether lanes along both ranges conflict in a statement. They do not if one of the ranges has the chains of a
  /// reduction, because the other one then runs one by one. Nor do they if `range` is reduced and `vector` belongs to
  /// the result.
  static bool lanes_conflict(const StatementAnalysis& w, UOp range, UOp vector) {
    if (!w.runs_over(range) || !w.runs_over(vector)) return false;
    if (w.chains() > 1 && contains(w.result_ranges, range) != contains(w.result_ranges, vector)) return false;
    return !(contains(w.reduced_ranges, range) && contains(w.result_ranges, vector));
  }
  bool conflicts_with_lanes(const StatementAnalysis& w) const {
    return std::ranges::any_of(vectors_, [&](UOp v) { return contains(w.result_ranges, v); });
  }
  /// Whether lanes along the range would not reach a statement: its own chains have lanes, or those of reductions
  /// inside.
  bool has_own_lanes(const StatementAnalysis& w, UOp range) {
    if (w.chains() > 1 && !w.reduced_ranges.empty() && !(w.reduced_ranges.back() == range)) return true;
    return std::ranges::any_of(w.sums, [&](UOp r) { return has_chains(r, range); });
  }
  /// Whether a reduction that depends on the range has chains, or is one over blocks that have.
  bool has_chains(UOp sum, UOp range) {
    const StatementAnalysis& w = analysis_.statement_of(sum);
    if (!analysis_.depends(sum, range)) return false;
    return w.chains() > 1 || std::ranges::any_of(w.sums, [&](UOp r) { return has_chains(r, range); });
  }

  KernelAnalysis& analysis_;
  const int lanes_;
  const std::vector<UOp>& fixed_;
  std::vector<UOp> vectors_;  ///< ranges with lanes
  const size_t before_;       ///< how many of them had lanes before
};

}  // namespace

std::vector<UOp> choose_lanes(KernelAnalysis& analysis, int lanes, const std::vector<UOp>& fixed,
                              const std::vector<UOp>& taken) {
  if (lanes < 2) return {};
  // The order that saves more is taken. By loss, two consecutive loops get a range each. By gain, they get one around
  // both, along which memory is strided.
  LaneChooser by_gain(analysis, lanes, fixed, taken), by_loss(analysis, lanes, fixed, taken);
  const double first = by_gain.take(false), second = by_loss.take(true);
  return second > first ? by_loss.made() : by_gain.made();
}

}  // namespace sinter::codegen
