// Times are counted in slots. In one slot a core issues one vector multiply-add and can also load one vector. Where
// cores differ, the assumption that favors the kernel is taken: the bound must never exceed the real time.
#include "codegen/tune/search/time_bound.h"

#include <algorithm>

#include "codegen/loopschedule/loop_schedule.h"
#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/short_float.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr double kIssueWidth = 2;  ///< operations issued per slot, multiply-adds and others together
constexpr double kLatency = 4;     ///< slots until an accumulator can be used again, at least
constexpr double kSpillSlots = 2;  ///< slots to store and reload a spilled accumulator
/// Steps of a reduction from which the next reduction cannot hide its latency.
constexpr double kMinLatencyBoundSteps = 256;

bool multiplies(Op op) { return op == Op::Mul || op == Op::Fma; }

}  // namespace

/// The loops that the Opts make.
struct TimeBound::LoopShape {
  const LoopSchedule schedule;
  KernelAnalysis& analysis;
  const int vector_bytes;

  int lanes(UOp range, DType dtype) const {
    const auto most =
        std::max<size_t>(static_cast<size_t>(vector_bytes) / std::max<size_t>(size_of(ir::compute_type(dtype)), 1), 1);
    return std::min(schedule.of(range).lanes, static_cast<int>(most));
  }
  int unroll(UOp range) const { return schedule.of(range).unroll; }
  /// How many vectors hold a value for all values of the ranges that `along` selects. At most one range provides the
  /// lanes.
  template <class Along>
  double vectors(DType dtype, Along along) const {
    double elements = 1;
    int widest = 1;
    for (UOp r : analysis.ranges()) {
      if (!along(r)) continue;
      elements *= static_cast<double>(analysis.size(r));
      widest = std::max(widest, lanes(r, dtype));
    }
    return std::max(elements / widest, 1.0);
  }
  /// Vectors of accumulators in one loop body of a REDUCE.
  double accumulators(const StatementAnalysis& w) const {
    double count = w.chains();
    for (UOp r : w.reduced_ranges) count = std::max(count / schedule.of(r).lanes, 1.0);
    for (UOp r : w.result_ranges) count *= unroll(r);
    const bool shares = ir::combine_step_ops(w.node).shared.size() > 0;  // one accumulator, at least
    return count * (ir::accumulator_count(w.node->reduction().combine) - (shares ? 1 : 0));
  }
  /// Whether the loop over `out` is certain to be outside the innermost loop over `own`.
  bool outside(UOp out, UOp own) const {
    const int a = schedule.order_position(out, schedule.of(out).levels() - 1),
              b = schedule.order_position(own, schedule.of(own).levels() - 1);
    if (a >= 0 && b >= 0) return a < b;
    return a < 0 && b < 0 && (is_outer(out) || range_id(out) < range_id(own));
  }
  int threads(int most) const {
    double tasks = 1;
    for (UOp r : schedule.outer) {
      const LoopAxis& axis = schedule.of(r);
      if (contains(analysis.ranges(), r)) tasks *= static_cast<double>(ceil_div(analysis.size(r), axis.block));
    }
    return static_cast<int>(std::min<double>(most, tasks));
  }
};

TimeBound::TimeBound(const Kernel& kernel, const runtime::Target& target, double peak)
    : kernel_(kernel),
      target_(target),
      slot_ns_(2 * std::max(target.vector_bytes / 4.0, 1.0) / peak),
      nodes_(ir::topological(kernel.sink)),
      analysis_(kernel) {}

/// Each value is computed at least once per iteration of the ranges that it depends on.
double TimeBound::arithmetic(const LoopShape& s) {
  double all = 0, products = 0;
  const auto add = [&](double operations, bool product, double vectors) {
    all += operations * vectors;
    if (product) products += vectors;
  };
  for (UOp n : nodes_)
    if (const double operations = operations_of(n))
      add(operations, multiplies(n->op), s.vectors(n->dtype, [&](UOp r) { return analysis_.depends(n, r); }));
  for (const StatementAnalysis& w : analysis_.statements())
    if (w.is_reduce()) {
      const double vectors = s.vectors(w.node->dtype, [&](UOp r) { return w.runs_over(r); });
      // Without what chains may share: the bound must not exceed the time.
      const ir::StepOps step = ir::combine_step_ops(w.node);
      for (Op op : step.per_chain) add(1, multiplies(op), vectors);
    }
  return std::max(all / kIssueWidth, products);
}

/// Each LOAD is executed at least once per iteration of the ranges that it depends on. A reduction repeats it for each
/// loop body of outer ranges on which it does not depend. Accumulators that do not fit the registers are reloaded in
/// each step.
double TimeBound::loads(const LoopShape& s) {
  const double registers = target_.vector_registers;
  std::unordered_map<ir::Node*, double> most;
  double spilled = 0;
  for (const StatementAnalysis& w : analysis_.statements()) {
    for (UOp a : w.accesses) {
      double count = s.vectors(a->dtype, [&](UOp r) { return analysis_.depends(a, r); });
      for (UOp out : w.result_ranges) {
        if (analysis_.depends(a, out)) continue;
        const bool again = std::ranges::any_of(
            w.reduced_ranges, [&](UOp own) { return analysis_.depends(a, own) && s.outside(out, own); });
        if (again)
          count *= std::max(static_cast<double>(analysis_.size(out)) / (s.lanes(out, a->dtype) * s.unroll(out)), 1.0);
      }
      double& all = most[a.get()];
      all = std::max(all, count);
    }
    if (!w.is_reduce() || w.reduced_ranges.empty()) continue;
    const double held = s.accumulators(w);
    if (held + 1 > registers)
      spilled +=
          kSpillSlots * (held + 1 - registers) / held * s.vectors(w.node->dtype, [&](UOp r) { return w.runs_over(r); });
  }
  double all = spilled;
  for (UOp n : nodes_)  // in a fixed order, because rounding depends on it
    if (const auto it = most.find(n.get()); it != most.end()) all += it->second;
  return all;
}

double TimeBound::latency(const LoopShape& s) const {
  double longest = 0;
  for (const StatementAnalysis& w : analysis_.statements()) {
    double steps = 1;
    for (UOp r : w.reduced_ranges) steps *= static_cast<double>(analysis_.size(r));
    if (!w.is_reduce() || steps < kMinLatencyBoundSteps) continue;
    const double vectors = s.vectors(w.node->dtype, [&](UOp r) { return w.runs_over(r); });
    longest =
        std::max(longest, vectors * ir::accumulator_count(w.node->reduction().combine) / s.accumulators(w) * kLatency);
  }
  return longest;
}

double TimeBound::ns(const std::vector<Opt>& opts) {
  const LoopShape s{make_loop_schedule(kernel_, opts), analysis_, target_.vector_bytes};
  return std::max({arithmetic(s), loads(s), latency(s)}) * slot_ns_ / s.threads(target_.threads);
}

}  // namespace sinter::codegen
