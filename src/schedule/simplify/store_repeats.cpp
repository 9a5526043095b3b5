// The copy goes below the windows and their padding.
#include "schedule/simplify/simplify.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ir/contains.h"
#include "ir/walk.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

/// Whether a value is computed from a reduction without being stored in between.
bool reads_reduction(UOp value) {
  const auto computed = ir::topological(std::span(&value, 1), [](UOp n) { return n->op != Op::Contiguous; });
  return std::ranges::any_of(computed, [](UOp n) { return n->op == Op::Reduce; });
}

/// The factor with a materialized source; itself if it needs none.
UOp over_stored(UOp factor) {
  std::vector<UOp> moved;  // from the factor down
  for (UOp n = factor; ir::is_movement(n->op); n = n->src[0]) moved.push_back(n);
  const auto window = std::find_if(moved.rbegin(), moved.rend(), [](UOp n) { return n->op == Op::Window; });
  if (window == moved.rend()) return factor;
  // Below the lowest window is the EXPAND that makes its taps.
  size_t seen = static_cast<size_t>(window.base() - moved.begin()) + 1;
  while (seen < moved.size() && moved[seen]->op == Op::Pad) ++seen;
  if (seen >= moved.size()) return factor;
  const auto below = [&](Op op) {
    return std::any_of(moved.begin() + static_cast<std::ptrdiff_t>(seen), moved.end(),
                       [op](UOp n) { return n->op == op; });
  };
  // Zeros between elements are no repeats: codegen splits them into phases.
  if (!below(Op::Expand) || below(Op::Pad)) return factor;
  Strides strides = row_major(moved.back()->src[0]->shape);
  for (size_t i = moved.size(); i-- > seen;) strides = strides_after(moved[i], strides);
  if (std::ranges::none_of(strides, [](int64_t stride) { return stride < 0; })) return factor;
  ir::Graph& g = *factor->graph;
  const auto stored = [&](UOp n) { return g.make({Op::Contiguous, n->dtype, n->shape, {n}}); };
  UOp n = moved.back()->src[0];
  if (reads_reduction(n)) n = stored(n);  // a product is not evaluated once per repeat
  for (size_t i = moved.size(); i-- > seen;) n = ir::with_sources(g, moved[i], {n});
  n = stored(n);
  while (seen-- > 0) n = ir::with_sources(g, moved[seen], {n});
  return n;
}

}  // namespace

void store_repeats(PlanGraph& plan) {
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (!is_reduce(n, ir::Combine::Add) || src[0]->op != Op::Mul) return {};
    std::vector<UOp> factors = ir::mapped(src[0]->src, [&](UOp factor) { return over_stored(factor); });
    if (std::equal(factors.begin(), factors.end(), src[0]->src.begin())) return {};
    return ir::with_sources(*plan.graph, n, {ir::with_sources(*plan.graph, src[0], factors)});
  });
}

}  // namespace sinter::schedule
