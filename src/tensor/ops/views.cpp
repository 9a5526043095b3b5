// Parts of one tensor and its other shapes, beyond the methods of movement.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

std::string list_of(const std::vector<int64_t>& list) { return sinter::to_string(Shape(list)); }

/// The parts [ends[i], ends[i + 1]) of an axis, the first from 0 on.
std::vector<Tensor> parts_until(UOp x, int64_t axis, const std::vector<int64_t>& ends) {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (int64_t end : ends) {
    parts.push_back(wrap(tensor::shrink_axis(x, axis, begin, std::max(begin, end))));
    begin = end;
  }
  return parts;
}

}  // namespace

// -- other shapes

Tensor ravel(const Tensor& x, Loc where) {
  Call call("ravel", where);
  return x.flatten(0, -1, where);
}

Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes, Loc where) {
  Call call("unflatten", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  const int64_t size = fixed_size(n, axis, "split into several");
  Shape others = sizes;
  const auto unknown = std::ranges::count_if(sizes, [](const Dim& d) { return d == -1; });
  for (size_t i = 0; i < others.rank(); ++i)
    if (others[i] == -1 && unknown == 1) others[i] = 1;
  check_shape(others);
  const int64_t known = others.numel();
  if (sizes.empty() || (unknown ? !known || size % known : size != known))
    usage_error("axis {} of {} has {} elements and cannot become {}; the sizes must multiply to {}", axis, describe(n),
                size, sinter::to_string(sizes), size);
  Shape shape;
  for (int64_t i = 0; i < static_cast<int64_t>(n->rank()); ++i) {
    if (i != axis) {
      shape.push_back(n->shape[i]);
      continue;
    }
    for (const Dim& d : sizes) shape.push_back(d == -1 ? Dim(size / known) : d);
  }
  return wrap(reshape(n, shape));
}

Tensor reshape_as(const Tensor& x, const Tensor& like, Loc where) {
  Call call("reshape_as", where);
  return x.reshape(node_of(like)->shape, where);
}
Tensor view_as(const Tensor& x, const Tensor& like, Loc where) {
  Call call("view_as", where);
  return x.reshape(node_of(like)->shape, where);
}

Tensor swapaxes(const Tensor& x, int64_t a, int64_t b, Loc where) {
  Call call("swapaxes", where);
  return x.transpose(a, b, where);
}

Tensor t(const Tensor& x, Loc where) {
  Call call("t", where);
  UOp n = node_of(x);
  if (n->rank() > 2)
    usage_error("{} has {} axes, and t() takes at most 2; use transpose, which swaps two axes", describe(n), n->rank());
  return n->rank() == 2 ? x.transpose(0, 1, where) : wrap(n);
}

Tensor movedim(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to, Loc where) {
  Call call("movedim", where);
  UOp n = node_of(x);
  if (from.size() != to.size())
    usage_error("axes {} to positions {}; give a position for each axis", list_of(from), list_of(to));
  axes_of(n, from), axes_of(n, to);  // errors: no such axis, or one given twice
  Ints order(n->rank(), -1), rest = ir::all_axes(n->rank());
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t axis = axis_of(n, from[i]);
    order[axis_of(n, to[i])] = axis;
    rest.erase(std::ranges::find(rest, axis));
  }
  auto next = rest.begin();
  for (int64_t& axis : order)
    if (axis < 0) axis = *next++;
  return wrap(permute(n, order));
}

Tensor Tensor::movedim(const std::vector<int64_t>& from, const std::vector<int64_t>& to, Loc where) const {
  return sinter::movedim(*this, from, to, where);
}

Tensor atleast_1d(const Tensor& x, Loc where) {
  Call call("atleast_1d", where);
  UOp n = node_of(x);
  return n->rank() ? wrap(n) : wrap(reshape(n, {1}));
}
Tensor atleast_2d(const Tensor& x, Loc where) {
  Call call("atleast_2d", where);
  UOp n = node_of(x);
  return n->rank() > 1 ? wrap(n) : wrap(n->rank() ? insert_axis(n, 0) : reshape(n, {1, 1}));
}
Tensor atleast_3d(const Tensor& x, Loc where) {
  Call call("atleast_3d", where);
  UOp n = node_of(x);
  switch (n->rank()) {
    case 0: return wrap(reshape(n, {1, 1, 1}));
    case 1: return wrap(insert_axes(n, {0, 2}));
    case 2: return wrap(insert_axis(n, 2));
    default: return wrap(n);
  }
}

Tensor broadcast_to(const Tensor& x, const Shape& shape, Loc where) {
  Call call("broadcast_to", where);
  return x.expand(shape, where);
}
Tensor expand_as(const Tensor& x, const Tensor& like, Loc where) {
  Call call("expand_as", where);
  return x.expand(node_of(like)->shape, where);
}

// -- parts

Tensor narrow(const Tensor& x, int64_t axis, int64_t start, const Dim& length, Loc where) {
  Call call("narrow", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  const int64_t size = fixed_size(n, axis, "narrowed"), begin = start < 0 ? start + size : start;
  if (begin < 0 || begin > size || length.value() < 0 || length.bound() > size - begin)
    usage_error("{} elements from {} on of axis {} of {}, which has {}; take fewer, or begin earlier",
                length.symbolic() ? fmt::format("up to {}", length.bound()) : to_string(length), start, axis,
                describe(n), size);
  n = tensor::shrink_axis(n, axis, begin, length.symbolic() ? size : begin + length.value());
  return wrap(length.symbolic() ? tensor::shrink_axis(n, axis, 0, length) : n);
}

Tensor narrow(const Tensor& x, int64_t axis, const Tensor& start, const Dim& length, Loc where) {
  const OuterCall outer("narrow", where);
  std::vector<Index> items;
  {
    const Call call("narrow", where);
    items.assign(static_cast<size_t>(axis_of(node_of(x), axis)), Index(Slice{}));
  }
  items.emplace_back(Narrow{start, length});
  return x.index(std::move(items), where);
}

Tensor select(const Tensor& x, int64_t axis, int64_t index, Loc where) {
  Call call("select", where);
  std::vector<Index> items(static_cast<size_t>(axis_of(node_of(x), axis)), Index(Slice{}));
  items.emplace_back(index);
  return x.index(std::move(items), where);
}

std::vector<Tensor> unbind(const Tensor& x, int64_t axis, Loc where) {
  Call call("unbind", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  std::vector<Tensor> parts;
  for (int64_t i = 0, size = fixed_size(n, axis, "taken apart"); i < size; ++i)
    parts.push_back(wrap(drop_axes(tensor::shrink_axis(n, axis, i, i + 1), {axis})));
  return parts;
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis, Loc where) {
  Call call("split", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  const int64_t size = fixed_size(n, axis, "split");
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (int64_t s : sizes) {
    if (s < 0) usage_error("the sizes {} of parts of {}: {} is negative", list_of(sizes), describe(n), s);
    ends.push_back(end = saturating_add(end, s));
  }
  if (end != size)
    usage_error("parts of {} take {} elements of axis {} of {}, which has {}; the sizes must sum to it", list_of(sizes),
                end, axis, describe(n), size);
  return parts_until(n, axis, ends);
}

std::vector<Tensor> Tensor::split(const std::vector<int64_t>& sizes, int64_t axis, Loc where) const {
  return sinter::split(*this, sizes, axis, where);
}

std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<int64_t>& indices, int64_t axis, Loc where) {
  Call call("tensor_split", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  const int64_t size = fixed_size(n, axis, "split");
  std::vector<int64_t> ends;
  for (int64_t i : indices) ends.push_back(std::clamp<int64_t>(i < 0 ? i + size : i, 0, size));
  ends.push_back(size);
  return parts_until(n, axis, ends);
}

std::vector<Tensor> array_split(const Tensor& x, int64_t sections, int64_t axis, Loc where) {
  Call call("array_split", where);
  UOp n = node_of(x);
  axis = axis_of(n, axis);
  if (sections < 1) usage_error("{} parts of {}; give 1 or more", sections, describe(n));
  const int64_t size = fixed_size(n, axis, "split");
  std::vector<int64_t> ends;
  for (int64_t i = 0, end = 0; i < sections; ++i) ends.push_back(end += size / sections + (i < size % sections));
  return parts_until(n, axis, ends);
}

std::vector<Tensor> hsplit(const Tensor& x, const std::vector<int64_t>& indices, Loc where) {
  const CallScope call("hsplit", where);
  return tensor_split(x, indices, x.rank(where) == 1 ? 0 : 1, where);
}

std::vector<Tensor> vsplit(const Tensor& x, const std::vector<int64_t>& indices, Loc where) {
  const CallScope call("vsplit", where);
  return tensor_split(x, indices, 0, where);
}

}  // namespace sinter::inline v0
