// Windows as views: the inputs of convolution and pooling.

#include "ir/build.h"
#include "ir/ceil_div.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

/// x with one axis replaced by axes of these sizes.
UOp regroup(UOp x, size_t axis, std::initializer_list<int64_t> sizes) {
  std::vector<Dim> dims = x->shape.dims();
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, sizes.begin(), sizes.end());
  return reshape(x, Shape(dims));
}

UOp first(UOp x, size_t axis, int64_t size) {
  Region box = full_region(x->shape);
  box[axis] = {0, size};
  return shrink(x, box);
}

/// The first `size` elements along the axis, zero-padded if x is shorter.
UOp resized(UOp x, size_t axis, int64_t size) {
  const int64_t have = x->shape[axis].value();
  if (size <= have) return size == have ? x : first(x, axis, size);
  Shape shape = x->shape;
  shape[axis] = size;
  return pad(x, full_region(x->shape), shape);
}

/// Splits the axis into `count` rows of `length`, zero-padded: two axes.
UOp rows(UOp x, size_t axis, int64_t count, int64_t length) {
  return regroup(resized(x, axis, count * length), axis, {count, length});
}

/// `count` elements along the axis, `stride` apart, starting with the first.
UOp every(UOp x, size_t axis, int64_t count, int64_t stride) {
  return regroup(first(rows(x, axis, count, stride), axis + 1, 1), axis + 1, {});
}

/// The adjoint of every(): the elements along the axis, `stride` apart, with zeros between and behind them.
UOp spread(UOp x, size_t axis, int64_t stride) {
  const int64_t count = x->shape[axis].value();
  x = resized(regroup(x, axis, {count, 1}), axis + 1, stride);
  std::vector<Dim> dims = x->shape.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  dims[axis] = count * stride;
  return reshape(x, Shape(dims));
}

}  // namespace

UOp slide(UOp x, int64_t axis, int64_t step, int64_t size) {
  if (axis < 0 || axis + 1 >= static_cast<int64_t>(x->rank()) || size < 0)
    throw InternalError("building Window: no such axis, or a negative size");
  Shape shape = x->shape;
  shape[axis] = size;
  return x->graph->make({Op::Window, x->dtype, shape, {x}, WindowAttr{axis, step}});
}

UOp window(UOp x, int64_t axis, int64_t size, int64_t stride, int64_t dilation) {
  const auto a = static_cast<size_t>(axis);
  if (size == 1) dilation = stride;
  const int64_t room = x->shape[a].value() - (size - 1) * dilation - 1;
  if (size < 1 || stride < 1 || dilation < 1 || room < 0) throw InternalError("building Window: not one fits");
  const int64_t count = room / stride + 1;
  if (dilation % stride == 0) {
    const int64_t step = dilation / stride, length = count + (size - 1) * step;
    x = stride == 1 ? resized(x, a, length) : every(x, a, length, stride);
    if (size == 1) return regroup(x, a, {length, 1});
    const Shape taps(with_axes(x->shape.dims(), {axis + 1}, [&](int64_t) { return Dim(size); }));
    return slide(expand(x, taps, {axis + 1}), axis, step, count);
  }
  if (dilation == 1) {
    // Tap j*stride + r of window o is element r of row o + j.
    const int64_t taps = ceil_div(size, stride);
    UOp w = window(rows(x, a, count - 1 + taps, stride), axis, taps, 1, 1);
    std::vector<Dim> dims = w->shape.dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(a) + 2);
    dims[a + 1] = taps * stride;
    return resized(reshape(w, Shape(dims)), a + 1, size);
  }
  return every(window(x, axis, size, 1, dilation), a, count, stride);
}

UOp overlap_add(UOp x, int64_t axis, int64_t stride, int64_t dilation, int64_t size, Combine addition) {
  const auto a = static_cast<size_t>(axis);
  const int64_t count = x->shape[a].value(), taps = x->shape[a + 1].value();
  if (taps == 1) dilation = stride;
  if (dilation % stride == 0) {
    const int64_t step = dilation / stride, length = count + (taps - 1) * step;
    x = taps == 1 ? regroup(x, a + 1, {}) : reduce(addition, slide(x, axis, -step, length), {axis + 1});
    if (stride > 1) x = spread(x, a, stride);
    return resized(x, a, size);
  }
  if (dilation == 1) {
    // Tap j*stride + r of window o is element r of row o + j.
    const int64_t rows_seen = ceil_div(taps, stride);
    x = regroup(resized(x, a + 1, rows_seen * stride), a + 1, {rows_seen, stride});
    x = overlap_add(x, axis, 1, 1, count - 1 + rows_seen, addition);
    std::vector<Dim> dims = x->shape.dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(a) + 1);
    dims[a] = (count - 1 + rows_seen) * stride;
    return resized(reshape(x, Shape(dims)), a, size);
  }
  return overlap_add(resized(spread(x, a, stride), a, size - (taps - 1) * dilation), axis, 1, dilation, size, addition);
}

}  // namespace sinter::ir
