// The divisor goes through the same views as the weight. Stride 0 proves that it is constant along the summed axes.
#include "schedule/simplify/simplify.h"

#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/fused_reductions.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

/// The movement ops from n down to `base`, the first other node or a PAD.
std::vector<UOp> view_of(UOp n, UOp& base) {
  std::vector<UOp> view;
  for (; ir::is_movement(n->op) && n->op != Op::Pad && n->src.size() == 1; n = n->src[0]) view.push_back(n);
  base = n;
  return view;
}

UOp seen(ir::Graph& g, UOp x, const std::vector<UOp>& view) {
  for (size_t i = view.size(); i-- > 0;) x = ir::with_sources(g, view[i], {x});
  return x;
}

/// The first element along each of the axes, which are dropped.
UOp first_of(UOp x, const ir::Ints& axes) {
  ir::Region box = ir::full_region(x->shape);
  for (int64_t a : axes) box[a] = {0, 1};
  return ir::reshape(ir::shrink(x, box), ir::without(x->shape, axes));
}

/// The sum of weight * other with one division; null if `weight` is not a softmax weight.
UOp divided(ir::Graph& g, UOp sum, UOp weight, UOp other) {
  const ir::Ints& axes = sum->reduction().axes;
  UOp base;
  const std::vector<UOp> view = view_of(weight, base);
  if (!is_softmax_weight(base)) return {};
  UOp divisor = base->src[1];
  Strides strides = strides_after(divisor, row_major(divisor->src[0]->shape));
  for (size_t i = view.size(); i-- > 0;) strides = strides_after(view[i], strides);
  for (int64_t a : axes) {
    const Dim& size = weight->shape[a];
    if (strides[a] != 0 || (size.symbolic() ? size.var().min() : size.value()) < 1) return {};
  }
  UOp made = ir::reduce(ir::Combine::Add, seen(g, base->src[0], view) * other, axes);
  return made / first_of(seen(g, divisor, view), axes);
}

}  // namespace

void defer_division(PlanGraph& plan) {
  ir::Graph& g = *plan.graph;
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (!is_reduce(n, ir::Combine::Add) || src[0]->op != Op::Mul) return {};
    UOp made = ir::with_sources(g, n, src);
    for (size_t weight : {0, 1})
      if (UOp once = divided(g, made, src[0]->src[weight], src[0]->src[1 - weight])) return once;
    return {};
  });
}

}  // namespace sinter::schedule
