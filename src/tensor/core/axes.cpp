// Checks of axes, and index values for shapes with symbolic sizes.
#include "tensor/core/axes.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "tensor/core/operands.h"

namespace sinter::tensor {

int64_t axis_of(UOp x, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(x->rank());
  if (axis < -rank || axis >= rank) {
    std::string have = rank ? fmt::format("its axes are {} to {}", -rank, rank - 1) : "a scalar has no axes";
    usage_error("axis {} is out of range of {}; {}", axis, describe(x), have);
  }
  return axis < 0 ? axis + rank : axis;
}

Ints axes_of(UOp x, const Axes& axes) {
  if (axes.all()) return ir::all_axes(x->rank());
  auto list = mapped<Ints>(axes.list(), [&](int64_t a) { return axis_of(x, a); });
  std::ranges::sort(list);
  if (auto twice = std::adjacent_find(list.begin(), list.end()); twice != list.end())
    usage_error("axis {} of {} is given twice; name each axis once", *twice, describe(x));
  return list;
}

int64_t fixed_size(UOp x, int64_t axis, const char* what, const char* instead) {
  const Dim& size = x->shape[axis];
  if (size.symbolic())
    usage_error(
        "axis {} of {} has the symbolic size {} and cannot be {}; take a fixed size there: make the tensor "
        "with {} in place of the Var, which is a program for each size{}",
        axis, describe(x), to_string(size), what, size.value(), instead);
  return size.value();
}

int64_t range_length(int64_t begin, int64_t end, int64_t step) {
  // Unsigned: neither the distance nor a step near the smallest integer overflows.
  const bool up = step > 0;
  if (up ? begin >= end : begin <= end) return 0;
  const uint64_t from = static_cast<uint64_t>(up ? begin : end), to = static_cast<uint64_t>(up ? end : begin);
  const uint64_t stride = up ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t before = (to - from - 1) / stride;
  return static_cast<int64_t>(std::min<uint64_t>(before, std::numeric_limits<int64_t>::max() - 1)) + 1;
}

UOp size_node(const Dim& size, DType dtype, Device device) {
  Graph& g = TensorGraph::get();
  return size.symbolic() ? cast(bound_size(g, size, device), dtype) : ir::constant(g, dtype, size.value(), device);
}

UOp count_of(UOp x, const Ints& axes, DType dtype) {
  int64_t fixed = 1;
  UOp product;
  for (int64_t a : axes) {
    const Dim& d = x->shape[a];
    if (!d.symbolic())
      fixed *= d.value();
    else
      product = product ? product * size_node(d, dtype, x->device) : size_node(d, dtype, x->device);
  }
  UOp constant = ir::constant(TensorGraph::get(), dtype, fixed, x->device);
  return !product ? constant : fixed == 1 ? product : product * constant;
}

UOp position(const Shape& shape, int64_t axis, Device device) {
  return axis_iota(TensorGraph::get(), shape, axis, device);
}

UOp flat_position(const Shape& shape, Device device) {
  Graph& g = TensorGraph::get();
  if (!shape.symbolic()) return reshape(arange(g, shape.numel(), device), shape);
  UOp flat;
  for (size_t a = 0; a < shape.rank(); ++a) {
    UOp here = position(shape, static_cast<int64_t>(a), device);
    flat = flat ? flat * broadcast_to(size_node(shape[a], DType::I64, device), shape) + here : here;
  }
  return flat;
}

UOp drop_axes(UOp x, const Ints& axes) { return reshape(x, without(x->shape, axes)); }

UOp insert_axes(UOp x, const Ints& axes) {
  return reshape(x, Shape(with_axes(x->shape.dims(), axes, [](int64_t) { return Dim(1); })));
}
UOp insert_axis(UOp x, int64_t axis) { return insert_axes(x, {axis}); }

UOp move_axis(UOp x, int64_t from, int64_t to) {
  Ints order = ir::all_axes(x->rank());
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return permute(x, order);
}

UOp shrink_axis(UOp x, int64_t axis, int64_t begin, const Dim& end) {
  Region box = full_region(x->shape);
  if (!(begin == 0 && x->shape[axis] == end)) box[axis] = {begin, end};
  return shrink(x, box);
}

UOp pad_axis(UOp x, int64_t axis, int64_t before, int64_t size) {
  Region box = full_region(x->shape);
  Shape shape = x->shape;
  const size_t a = static_cast<size_t>(axis);
  if (before == 0 && shape[a] == size) return x;
  box[a] = {before, before + shape[a].value()};
  shape[a] = size;
  return pad(x, box, shape);
}

}  // namespace sinter::tensor
