// Lanes along a range make one instruction of as many elements, where memory lies side by side along it.
#include "codegen/tune/heuristic/vector_lanes.h"

#include <algorithm>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/ceil_div.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr double kTurned = 0.75;  ///< cycles of an element that is transposed in registers,
constexpr int64_t kFewest = 4;    ///< which takes so many copies
constexpr double kInOrder = 2;    ///< cycles more of an element of a sum whose lanes are added one after the other

class Taker {
 public:
  Taker(View& view, int lanes, const std::vector<UOp>& fixed, const std::vector<UOp>& taken)
      : view_(view), lanes_(lanes), fixed_(fixed), vectors_(taken), before_(taken.size()) {}

  /// One by one: those first that save most, or those without which their statements would lose most. Returns the
  /// cycles saved.
  double take(bool by_loss) {
    double total = 0;
    while (true) {
      std::vector<UOp> open;
      for (UOp r : view_.ranges())
        if (!in(vectors_, r) && !in(fixed_, r) && !meets_vector(r)) open.push_back(r);
      std::vector<double> gain(open.size()), loss(open.size()), each(open.size());
      for (const Work& w : view_.works()) {
        double first = 0, second = 0;  // of what lanes along one range or another save the statement
        for (size_t i = 0; i < open.size(); ++i) {
          gain[i] += each[i] = saved(w, open[i]);
          second = std::max(second, std::min(first, each[i]));
          first = std::max(first, each[i]);
        }
        for (size_t i = 0; i < open.size() && by_loss; ++i)
          if (w.runs_over(open[i])) loss[i] += each[i] - (each[i] == first ? second : first);
      }
      int best = -1;
      for (int i = 0; i < static_cast<int>(open.size()); ++i)
        if (gain[i] > 0 && (best < 0 || std::pair(loss[i], gain[i]) > std::pair(loss[best], gain[best]))) best = i;
      if (best < 0) break;
      total += gain[best];
      vectors_.push_back(open[best]);
    }
    return total;
  }
  std::vector<UOp> made() const { return {vectors_.begin() + static_cast<std::ptrdiff_t>(before_), vectors_.end()}; }

 private:
  /// Lanes that the vectors along a range use on average: the last one may be short.
  double used(UOp range) const {
    const int64_t size = view_.size(range);
    return static_cast<double>(size) / static_cast<double>(ceil_div(size, lanes_));
  }
  /// Cycles of an element with lanes along a range, or without.
  double element(const Work& w, UOp range) {
    double vector = 0, scalar = 0;
    for (UOp a : w.accesses) {
      const int64_t stride = range ? view_.lane_stride(a, range) : 0;
      if (stride == 0 || stride == 1)
        vector += 1;
      else
        scalar += std::min(turns(w, a, range) ? kTurned : kGather,
                           cycles_apart(a->op == Op::Load ? stride : 0, lanes_) / lanes_);
    }
    if (range && in(w.own, range) && w.chains() == 1) scalar += kInOrder;
    return (vector + w.operations) / (range ? used(range) : 1) + scalar;
  }
  /// Whether an access that is strided along the lanes of results lies side by side along another range of the
  /// statement: with copies there it is transposed in registers.
  bool turns(const Work& w, UOp access, UOp lanes) {
    return in(w.outs, lanes) && std::any_of(view_.ranges().begin(), view_.ranges().end(), [&](UOp r) {
             return !(r == lanes) && w.runs_over(r) && !in(fixed_, r) && view_.size(r) >= kFewest &&
                    view_.stride(access, r) == 1;
           });
  }
  /// Cycles that lanes along the range save a statement.
  double saved(const Work& w, UOp range) {
    if (!w.runs_over(range) || vector_by_itself(w, range) || meets_vector(w)) return 0;
    return w.iterations * (element(w, {}) - element(w, range)) *
           std::min(1.0, static_cast<double>(view_.size(range)) / 4);
  }
  bool meets_vector(UOp range) const {
    return std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& w) {
      return std::any_of(vectors_.begin(), vectors_.end(), [&](UOp v) { return meet(w, range, v); });
    });
  }
  /// Not where one of them has the chains of a sum, beside which the other goes one by one, nor where `range` is summed
  /// along lanes of the result.
  static bool meet(const Work& w, UOp range, UOp vector) {
    if (!w.runs_over(range) || !w.runs_over(vector)) return false;
    if (w.chains() > 1 && in(w.outs, range) != in(w.outs, vector)) return false;
    return !(in(w.own, range) && in(w.outs, vector));
  }
  bool meets_vector(const Work& w) const {
    return std::any_of(vectors_.begin(), vectors_.end(), [&](UOp v) { return in(w.outs, v); });
  }
  /// Whether lanes along the range would not reach a statement: it has those of its own chains, or sums inside do.
  bool vector_by_itself(const Work& w, UOp range) {
    if (w.chains() > 1 && !w.own.empty() && !(w.own.back() == range)) return true;
    return std::any_of(w.sums.begin(), w.sums.end(), [&](UOp r) { return has_chains(r, range); });
  }
  /// Whether a sum that changes with the range has chains, or is one over blocks that have.
  bool has_chains(UOp sum, UOp range) {
    const Work& w = view_.of(sum);
    if (!view_.depends(sum, range)) return false;
    return w.chains() > 1 || std::any_of(w.sums.begin(), w.sums.end(), [&](UOp r) { return has_chains(r, range); });
  }

  View& view_;
  const int lanes_;
  const std::vector<UOp>& fixed_;
  std::vector<UOp> vectors_;  ///< with lanes
  const size_t before_;       ///< so many of them had lanes before
};

}  // namespace

std::vector<UOp> choose_lanes(View& view, int lanes, const std::vector<UOp>& fixed, const std::vector<UOp>& taken) {
  if (lanes < 2) return {};
  // Whichever order saves more in the end. The second gives two loops in a row a range each, where the first sees one
  // around both, along which memory is strided.
  Taker most(view, lanes, fixed, taken), dear(view, lanes, fixed, taken);
  const double first = most.take(false), second = dear.take(true);
  return second > first ? dear.made() : most.made();
}

}  // namespace sinter::codegen
