// Solves lo <= factor * range + rest <= hi for the range. Bounds that never bind are left out.
#include "codegen/nest/loop_bounds.h"

#include <algorithm>
#include <limits>

#include "ir/build.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

using ir::LinearExpr;

bool is_comparison(UOp condition) {
  while (condition->op == Op::Not) condition = condition->src[0];
  return condition->op == Op::Lt || condition->op == Op::Le || condition->op == Op::Eq || condition->op == Op::Ne;
}

/// floor(sum / divisor) + add
UOp floor_div(ir::Graph& g, const LinearExpr& sum, int64_t divisor, int64_t add) {
  if (divisor == 1) return ir::to_uop(g, ir::plus(sum, ir::linear_of(add)));
  const UOp quotient = ir::idiv(ir::to_uop(g, sum), ir::constant(g, DType::Index, divisor));
  return ir::to_uop(g, ir::plus(ir::linear_of(quotient), ir::linear_of(add)));
}

/// The least possible value of a - b.
int64_t least_difference(ir::IntervalAnalysis& intervals, UOp a, UOp b) {
  return intervals.of(ir::plus(ir::linear_of(a), ir::linear_of(b), -1)).lo;
}

}  // namespace

LoopBounds solve_bounds(UOp predicate, UOp range, const std::function<bool(UOp)>& known) {
  ir::Graph& g = *range->graph;
  const UOp zero = ir::constant(g, DType::Index, 0), size = range->src[0];
  ir::IntervalAnalysis intervals;
  LoopBounds out;
  for (UOp condition : ir::operands_of(predicate, Op::And)) {
    ir::Facts facts;
    facts.assume(condition);
    if (!is_comparison(condition) || facts.constraints().size() != 1) continue;
    const auto& [core, lo, hi] = facts.constraints()[0];
    const int64_t factor = core.factor(range);
    const LinearExpr rest = ir::plus(core, ir::linear_of(range), -factor);
    if (factor == 0 || !std::ranges::all_of(rest.terms, [&](const ir::LinearTerm& t) { return known(t.atom); }))
      continue;
    // Bounds on |factor| * range: at least `above`, at most `below`.
    const int64_t sign = factor < 0 ? -1 : 1;
    const bool has_lo = lo > std::numeric_limits<int64_t>::min(), has_hi = hi < std::numeric_limits<int64_t>::max();
    if (sign < 0 ? has_hi : has_lo) {
      const LinearExpr below_all = ir::plus(ir::times(rest, sign), ir::linear_of(sign < 0 ? hi : -lo));  // -`above`
      const UOp from = ir::to_uop(g, ir::times(ir::linear_of(floor_div(g, below_all, sign * factor, 0)), -1));
      if (intervals.of(from).hi > 0) out.from.push_back(from);
    }
    if (sign < 0 ? has_lo : has_hi) {
      const LinearExpr below = ir::plus(ir::times(rest, -sign), ir::linear_of(sign < 0 ? -lo : hi));
      const UOp to = floor_div(g, below, sign * factor, 1);
      if (least_difference(intervals, to, size) < 0) out.to.push_back(to);
    }
    out.conditions.push_back(condition);
  }
  std::vector<UOp> ends = out.to;
  if (!out.from.empty()) ends.push_back(size);
  std::vector<UOp> begins = out.from;
  begins.push_back(zero);
  for (UOp end : ends)
    for (UOp begin : begins) out.empty |= least_difference(intervals, end, begin) < 1;
  return out;
}

}  // namespace sinter::codegen
