// Gather and a scatter that adds are each other's adjoint. The other modes of a scatter say which updates an element
// depends on.
#include "gradient/adjoint.h"
#include "ir/build.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

/// The adjoint of a gather of one index per row. A comparison, which fuses with the producer of g; a scatter would be a
/// kernel of its own.
UOp one_hot_gradient(UOp x, UOp index, UOp g, int64_t axis) {
  Graph& graph = *x->graph;
  const Dim& size = x->shape[axis];
  UOp i = cast(index, DType::I64);
  UOp extent =
      size.symbolic() ? bound_size(graph, size, x->device) : constant(graph, DType::I64, size.value(), x->device);
  if (!is_unsigned(index->dtype)) i = where(lt(i, like(i, 0.0)), i + broadcast_to(extent, i->shape), i);
  UOp place = axis_iota(graph, x->shape, axis, x->device);
  return where(eq(place, broadcast_to(i, x->shape)), broadcast_to(g, x->shape), like(x, 0.0));
}

/// g where the element at `index` keeps the update, zero elsewhere: of several updates of an element the last stays.
UOp kept_update(Adjoint& a, int64_t axis) {
  Graph& graph = *a.n->graph;
  UOp index = a.src(1);
  UOp place = axis_iota(graph, index->shape, axis, index->device);
  UOp last = ir::scatter(full(graph, a.n->shape, DType::I64, 0, a.n->device), index, place, axis, ScatterMode::Set);
  return where(eq(gather(last, index, axis), place), gather(a.g, index, axis), like(a.src(2), 0.0));
}

/// The product of all updates of an element but one, and the element before them: result / value. Where the value is
/// the only zero, the product is made anew with 1 in its place.
void scatter_product(Adjoint& a, int64_t axis) {
  UOp base = a.src(0), index = a.src(1), value = a.src(2);
  a.give(0, a.g * ir::scatter(like(base, 1.0), index, value, axis, ScatterMode::Mul));
  if (!a.wants(2)) return;
  UOp none = like(value, 0.0), one = like(value, 1.0), zero = eq(value, none);
  UOp zeros = scatter_add(like(base, 0.0), index, cast(zero, value->dtype), axis);
  UOp alone = zero & eq(gather(zeros, index, axis), one);
  UOp others = ir::scatter(base, index, where(alone, one, value), axis, ScatterMode::Mul);
  UOp divided = gather(a.g * a.n, index, axis) / where(zero, one, value);
  a.give(2, where(alone, gather(a.g * others, index, axis), divided));
}

/// The element and the updates that equal the result share g (SEMANTICS G7).
void scatter_extremum(Adjoint& a, int64_t axis) {
  UOp base = a.src(0), index = a.src(1), value = a.src(2);
  UOp stays = eq(base, a.n), taken = eq(value, gather(a.n, index, axis));
  UOp count = scatter_add(cast(stays, base->dtype), index, cast(taken, base->dtype), axis);
  UOp share = a.g / count;
  a.give(0, where(stays, share, like(base, 0.0)));
  if (a.wants(2)) a.give(2, where(taken, gather(share, index, axis), like(value, 0.0)));
}

void scatter_rule(Adjoint& a) {
  const auto [axis, mode] = a.n->scatter();
  switch (mode) {
    case ScatterMode::Add:
      a.give(0, a.g);
      if (a.wants(2)) a.give(2, gather(a.g, a.src(1), axis));
      return;
    case ScatterMode::Set:
      a.give(0, ir::scatter(a.g, a.src(1), like(a.src(2), 0.0), axis, ScatterMode::Set));
      if (a.wants(2)) a.give(2, kept_update(a, axis));
      return;
    case ScatterMode::Mul: return scatter_product(a, axis);
    case ScatterMode::Max:
    case ScatterMode::Min: return scatter_extremum(a, axis);
  }
}

constexpr GradientRuleEntry kPick[] = {
    {Op::Gather,
     [](Adjoint& a) {
       UOp x = a.src(0), index = a.src(1);
       const int64_t axis = a.n->integer();
       if (index->shape[axis] == 1) return a.give(0, one_hot_gradient(x, index, a.g, axis));
       a.give(0, scatter_add(like(x, 0.0), index, a.g, axis));
     }},
    {Op::Scatter, scatter_rule},
};

}  // namespace

std::span<const GradientRuleEntry> pick_rules() { return kPick; }

}  // namespace sinter::autodiff
