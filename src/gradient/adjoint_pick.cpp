// Gather and ScatterAdd are each other's adjoint.
#include "gradient/adjoint.h"
#include "ir/build.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

/// The adjoint of a gather of one index per row. A comparison, which fuses with the producer of g; a scatter would be a
/// kernel of its own.
UOp one_hot_gradient(UOp x, UOp index, UOp g, int64_t axis) {
  Graph& graph = *x->graph;
  const Dim& size = x->shape[static_cast<size_t>(axis)];
  UOp i = cast(index, DType::I64);
  UOp extent =
      size.symbolic() ? bound_size(graph, size, x->device) : constant(graph, DType::I64, size.value(), x->device);
  if (!is_unsigned(index->dtype)) i = where(lt(i, like(i, 0.0)), i + broadcast_to(extent, i->shape), i);
  UOp place = axis_iota(graph, x->shape, axis, x->device);
  return where(eq(place, broadcast_to(i, x->shape)), broadcast_to(g, x->shape), like(x, 0.0));
}

constexpr GradientRuleEntry kPick[] = {
    {Op::Gather,
     [](Adjoint& a) {
       UOp x = a.src(0), index = a.src(1);
       const int64_t axis = a.n->integer();
       if (index->shape[static_cast<size_t>(axis)] == 1) return a.give(0, one_hot_gradient(x, index, a.g, axis));
       a.give(0, scatter_add(like(x, 0.0), index, a.g, axis));
     }},
    {Op::ScatterAdd,
     [](Adjoint& a) {
       a.give(0, a.g);
       if (a.wants(2)) a.give(2, gather(a.g, a.src(1), a.n->integer()));
     }},
};

}  // namespace

std::span<const GradientRuleEntry> pick_rules() { return kPick; }

}  // namespace sinter::autodiff
