// cumsum, cumprod, logcumsumexp, cummax, cummin, and integrals by trapezoids.
#include "sinter/scans.h"

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

Tensor running(std::string_view name, Combine combine, const Arg& x, int64_t axis) {
  Call call(name, x.where());
  const UOp n = widen_sum(operand(x));
  return wrap(scan(combine, n, axis_of(n, axis)));
}

/// The places count down: of equal elements the one with the smallest place is taken, which then is the last.
Ranked running_extreme(std::string_view name, Combine combine, const Arg& x, int64_t axis) {
  Call call(name, x.where());
  const UOp n = operand(x);
  const int64_t at = axis_of(n, axis);
  const UOp place = position(n->shape, at, n->device);
  const UOp pairs[] = {is_bool(n->dtype) ? cast(n, DType::U8) : n, like(place, 0.0) - place};
  const UOp taken = detach(scan(combine, pairs, at, 1));
  return {wrap(cast(scan(combine, pairs, at, 0), n->dtype)), wrap(like(taken, 0.0) - taken)};
}

/// The areas between neighbors along the axis, in ir::to_compute_type(). `width` is that of a trapezoid, or null for
/// dx.
UOp areas(UOp y, UOp width, double dx, int64_t axis) {
  const int64_t size = fixed_size(y, axis, "integrated");
  if (size == 0) return y;
  const UOp both = tensor::shrink_axis(y, axis, 1, size) + tensor::shrink_axis(y, axis, 0, size - 1);
  return both * (width ? width * 0.5 : like(both, 0.5 * dx));
}

/// The distances between the places x of the elements of y.
UOp widths(UOp y, UOp x, int64_t axis) {
  const int64_t size = fixed_size(y, axis, "integrated");
  if (x->rank() == 1 && x->shape[0] == size) {
    Shape one;
    for (size_t i = 0; i < y->rank(); ++i) one.push_back(static_cast<int64_t>(i) == axis ? Dim(size) : Dim(1));
    x = broadcast_to(reshape(x, one), y->shape);
  }
  const auto from_end = static_cast<int64_t>(y->rank()) - axis;
  if (static_cast<int64_t>(x->rank()) >= from_end && x->shape[-from_end] == size &&
      common_shape(x->shape, y->shape) == y->shape)
    x = broadcast_to(x, y->shape);
  if (!(x->shape == y->shape))
    usage_error("places {} fit no axis {} of {}; give {} of them, or one for each element", describe(x), axis,
                describe(y), size);
  return size == 0 ? x : tensor::shrink_axis(x, axis, 1, size) - tensor::shrink_axis(x, axis, 0, size - 1);
}

UOp areas(const Arg& y, const Arg& x, int64_t& axis) {
  const DType dtype = common_float_type({&y, &x});
  const UOp values = cast(operand(y), dtype), places = cast(operand(x), dtype);
  axis = axis_of(values, axis);
  const UOp wide = to_compute_type(values);
  return areas(wide, widths(wide, to_compute_type(places), axis), 1, axis);
}
UOp areas(const Arg& y, double dx, int64_t& axis) {
  const UOp values = float_operand(y);
  axis = axis_of(values, axis);
  return areas(to_compute_type(values), {}, dx, axis);
}

}  // namespace

Tensor cumsum(Arg x, int64_t axis) { return running("cumsum", Combine::Add, x, axis); }
Tensor cumprod(Arg x, int64_t axis) { return running("cumprod", Combine::Mul, x, axis); }

Tensor logcumsumexp(Arg x, int64_t axis) {
  Call call("logcumsumexp", x.where());
  const UOp n = float_operand(x), wide = to_compute_type(n);
  const int64_t at = axis_of(n, axis);
  const UOp values[] = {wide, like(wide, 1.0)};
  const UOp top = detach(scan(Combine::ExpSum, values, at, 0));
  return wrap(cast(top + log(scan(Combine::ExpSum, values, at, 1)), n->dtype));
}

Ranked cummax(Arg x, int64_t axis) { return running_extreme("cummax", Combine::ArgMax, x, axis); }
Ranked cummin(Arg x, int64_t axis) { return running_extreme("cummin", Combine::ArgMin, x, axis); }

Tensor trapezoid(Arg y, double dx, int64_t axis) {
  Call call("trapezoid", y.where());
  const UOp all = areas(y, dx, axis);
  return wrap(cast(sum(all, {axis}), float_operand(y)->dtype));
}
Tensor trapezoid(Arg y, Arg x, int64_t axis) {
  Call call("trapezoid", y.where());
  const UOp all = areas(y, x, axis);
  return wrap(cast(sum(all, {axis}), common_float_type({&y, &x})));
}
Tensor cumulative_trapezoid(Arg y, double dx, int64_t axis) {
  Call call("cumulative_trapezoid", y.where());
  const UOp all = areas(y, dx, axis);
  return wrap(cast(scan(Combine::Add, all, axis), float_operand(y)->dtype));
}
Tensor cumulative_trapezoid(Arg y, Arg x, int64_t axis) {
  Call call("cumulative_trapezoid", y.where());
  const UOp all = areas(y, x, axis);
  return wrap(cast(scan(Combine::Add, all, axis), common_float_type({&y, &x})));
}

}  // namespace sinter::inline v0
