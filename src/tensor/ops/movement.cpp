// Reshape, permute, expand, flip, pad and the like: checks, then one or two movement nodes. Slices are in index.cpp,
// joins and splits in join.cpp.
#include <algorithm>

#include "ir/contains.h"
#include "sinter/tensor.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

std::vector<Dim> symbols(const Shape& shape) { return filtered(shape, &Dim::symbolic); }

/// Element counts between symbolic sizes, in order. A reshape keeps the symbolic axes and these counts.
std::vector<int64_t> counts_between(const Shape& shape) {
  std::vector<int64_t> counts{1};
  for (const Dim& d : shape) {
    if (d.symbolic())
      counts.push_back(1);
    else
      counts.back() *= d.value();
  }
  return counts;
}

/// Replaces the one -1 by the remaining size: a number, or the one symbolic size that is missing.
void infer(UOp x, Shape& shape) {
  size_t unknown = shape.rank();
  Shape others = shape;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1) {
      if (unknown < shape.rank())
        usage_error("shape {} has -1 at axes {} and {}; only one size can be inferred", sinter::to_string(shape),
                    unknown, i);
      others[unknown = i] = 1;
    } else if (shape[i].value() < 0) {
      usage_error("shape {} has the negative size {}; only -1, for what is left, may be negative",
                  sinter::to_string(shape), shape[i].value());
    }
  }
  check_shape(others);
  if (unknown == shape.rank()) return;
  for (const Dim& d : symbols(x->shape))
    if (!contains(shape, d)) {
      shape[unknown] = d;
      return;
    }
  const int64_t have = x->shape.numel(), known = others.numel();
  if (known == 0 || have % known)
    usage_error("{} has {} elements, which the other sizes of {} (product {}) do not divide; change one of them",
                describe(x), have, sinter::to_string(shape), known);
  shape[unknown] = have / known;
}

}  // namespace

Tensor Tensor::reshape(Shape shape, Loc where) const {
  Call call("reshape", where);
  UOp x = node_of(*this);
  const Shape asked = shape;
  infer(x, shape);
  check_shape(shape);
  if (symbols(shape) != symbols(x->shape) || (counts_between(shape) != counts_between(x->shape) && shape.symbolic()))
    usage_error(
        "{} to {}: a symbolic size stays an axis of its own, with as many elements before and after it; keep it, as "
        "size(axis) of the tensor or as -1",
        describe(x), sinter::to_string(asked));
  if (x->shape.numel() != shape.numel())
    usage_error("{} has {} elements, {} has {}; the numbers must be equal", describe(x), x->shape.numel(),
                sinter::to_string(asked), shape.numel());
  return wrap(ir::reshape(x, shape));
}

Tensor Tensor::flatten(int64_t first, int64_t last, Loc where) const {
  Call call("flatten", where);
  UOp x = node_of(*this);
  if (!x->rank()) return reshape({1}, where);
  const int64_t a = axis_of(x, first), b = axis_of(x, last);
  if (a > b)
    usage_error("from axis {} to axis {} of {}; the first must not come after the last", first, last, describe(x));
  if (a == b) return wrap(x);
  Shape shape;
  int64_t joined = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(x->rank()); ++i) {
    const Dim& d = x->shape[i];
    if (i < a || i > b) {
      shape.push_back(d);
      continue;
    }
    joined *= fixed_size(x, i, "joined with others");
    if (i == b) shape.push_back(joined);
  }
  return wrap(ir::reshape(x, shape));
}

Tensor Tensor::permute(std::vector<int64_t> order, Loc where) const {
  Call call("permute", where);
  UOp x = node_of(*this);
  if (order.size() != x->rank())
    usage_error("{} axes given for {}, which has {}; name each axis once", order.size(), describe(x), x->rank());
  std::vector<bool> seen(order.size());
  for (int64_t& a : order) {
    a = axis_of(x, a);
    if (seen[a]) usage_error("axis {} of {} is given twice; name each axis once", a, describe(x));
    seen[a] = true;
  }
  return wrap(ir::permute(x, order));
}

Tensor Tensor::transpose(int64_t a, int64_t b, Loc where) const {
  Call call("transpose", where);
  UOp x = node_of(*this);
  Ints order = ir::all_axes(x->rank());
  std::swap(order[axis_of(x, a)], order[axis_of(x, b)]);
  return wrap(ir::permute(x, order));
}

Tensor Tensor::movedim(int64_t from, int64_t to, Loc where) const {
  Call call("movedim", where);
  UOp x = node_of(*this);
  return wrap(move_axis(x, axis_of(x, from), axis_of(x, to)));
}

Tensor Tensor::expand(Shape shape, Loc where) const {
  Call call("expand", where);
  UOp x = node_of(*this);
  const Shape asked = shape;
  if (shape.rank() < x->rank())
    usage_error("{} to {}: the rank {} cannot become {}; give at least as many sizes", describe(x),
                sinter::to_string(asked), x->rank(), shape.rank());
  const size_t lead = shape.rank() - x->rank();
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1) {
      if (i < lead)
        usage_error("{} to {}: -1 keeps a size, but axis {} is new; give its size", describe(x),
                    sinter::to_string(asked), i);
      shape[i] = x->shape[i - lead];
    }
    if (shape[i].value() < 0)
      usage_error("{} to {}: the size {} is negative", describe(x), sinter::to_string(asked), shape[i].value());
    if (i >= lead && !(x->shape[i - lead] == shape[i]) && !(x->shape[i - lead] == 1))
      usage_error("{} to {}: axis {} has {} elements and cannot become {}; {}", describe(x), sinter::to_string(asked),
                  i - lead, sinter::to_string(x->shape[i - lead]), sinter::to_string(shape[i]),
                  mismatch_hint(x->shape[i - lead], shape[i], "only size 1 repeats"));
  }
  check_shape(shape);
  return wrap(ir::broadcast_to(x, shape));
}

Tensor Tensor::squeeze(Axes axes, Loc where) const {
  Call call("squeeze", where);
  UOp x = node_of(*this);
  Ints list = axes_of(x, axes);
  list.erase(std::remove_if(list.begin(), list.end(), [&](int64_t a) { return !(x->shape[a] == 1); }), list.end());
  return wrap(drop_axes(x, list));
}

Tensor Tensor::unsqueeze(int64_t axis, Loc where) const {
  Call call("unsqueeze", where);
  UOp x = node_of(*this);
  const int64_t rank = static_cast<int64_t>(x->rank());
  if (axis < -rank - 1 || axis > rank)
    usage_error("axis {} is no place for a new axis of {}; the places are {} to {}", axis, describe(x), -rank - 1,
                rank);
  return wrap(insert_axis(x, axis < 0 ? axis + rank + 1 : axis));
}

Tensor Tensor::flip(Axes axes, Loc where) const {
  Call call("flip", where);
  UOp x = node_of(*this);
  return wrap(ir::flip(x, axes_of(x, axes)));
}

Tensor Tensor::pad(std::vector<std::pair<int64_t, int64_t>> widths, Arg value, Loc where) const {
  Call call("pad", where);
  UOp x = node_of(*this);
  if (widths.size() > x->rank())
    usage_error(
        "{} pairs of widths given for {}, which has {} axes; give at most one {{before, after}} per axis, "
        "in the order of the axes",
        widths.size(), describe(x), x->rank());
  const Scalar fill = number_of(value, x->dtype);
  Shape shape = x->shape;
  Region box = full_region(shape);
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto [before, after] = widths[i];
    const size_t a = x->rank() - widths.size() + i;
    if (before < 0 || after < 0)
      usage_error("the widths {{{}, {}}} of axis {} of {} are negative; slice to take elements away", before, after, a,
                  describe(x));
    if (!before && !after) continue;
    const int64_t size = fixed_size(x, static_cast<int64_t>(a), "padded"), end = saturating_add(before, size);
    box[a] = {before, end};
    shape[a] = saturating_add(end, after);
  }
  check_shape(shape);
  UOp padded = ir::pad(x, box, shape);
  if (fill == Scalar::of(x->dtype, 0)) return wrap(padded);
  UOp inside = ir::pad(ir::true_like(x), box, shape);
  return wrap(ir::where(inside, padded, like(padded, fill)));
}

}  // namespace sinter::inline v0
