// Rebuilds values in the shape without the axes, from users to sources.
#include "schedule/simplify/simplify.h"

#include "ir/splat.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

constexpr int kDeepest = 8;  ///< elementwise ops between two reshapes

bool same_but_units(const Shape& a, const Shape& b) {
  Shape::Dims x, y;
  for (const Dim& d : a)
    if (!(d == 1)) x.push_back(d);
  for (const Dim& d : b)
    if (!(d == 1)) y.push_back(d);
  return x == y;
}

/// x in a shape that differs in axes of size 1, without a new reshape; null if that is impossible.
UOp reshaped_without_units(UOp x, const Shape& shape, int deep) {
  if (x->shape == shape) return x;
  if (x->op == Op::Reshape) return x->src[0]->shape == shape ? x->src[0] : UOp();
  if (UOp number = ir::splat_const(x)) return ir::broadcast_to(number, shape);
  if (!ir::is_alu(x->op) || deep == 0) return {};
  std::vector<UOp> src;
  for (UOp s : x->src) {
    src.push_back(reshaped_without_units(s, shape, deep - 1));
    if (!src.back()) return {};
  }
  return x->graph->make({x->op, x->dtype, shape, src, x->attr, x->device});
}

}  // namespace

void drop_unit_axes(PlanGraph& plan) {
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Reshape || !ir::is_alu(src[0]->op) || !same_but_units(n->shape, src[0]->shape)) return {};
    return reshaped_without_units(src[0], n->shape, kDeepest);
  });
}

}  // namespace sinter::schedule
