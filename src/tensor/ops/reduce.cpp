// sum, prod, mean, var, std, max, min, any, all, argmax, argmin, their pairs, and sums without NaN.
#include "tensor/ops/reduce.h"

#include <cmath>
#include <limits>

#include "ir/combine.h"
#include "sinter/ops.h"
#include "sinter/tensor.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
namespace tensor {

UOp widen_sum(UOp x) {
  if (is_float(x->dtype)) return cast(x, autocast_type(x->dtype));
  return x->dtype == DType::U64 ? x : cast(x, DType::I64);
}

UOp mean_over(UOp x, const Ints& axes) {
  UOp total = reduce(Combine::Add, x, axes);
  return total / broadcast_to(count_of(x, axes, x->dtype), total->shape);
}

UOp variance_over(UOp x, const Ints& axes, int64_t correction) {
  UOp off = x - expand(mean_over(x, axes), x->shape, axes);
  UOp total = reduce(Combine::Add, off * off, axes);
  // If there are no more elements than the correction, this is x/0: 0/0 is NaN.
  UOp count = count_of(x, axes, x->dtype);
  count = maximum(count - static_cast<double>(correction), like(count, 0.0));
  return total / broadcast_to(count, total->shape);
}
UOp root(UOp total, double p) {
  UOp zero = like(total, 0.0), none = eq(total, zero), safe = where(none, like(total, 1.0), total);
  UOp y = p == 2 ? sqrt(safe) : alu(Op::Pow, {safe, like(safe, 1 / p)});
  return where(none, zero, y);
}

UOp norm_over(UOp x, double p, const Ints& axes) {
  if (std::isnan(p)) usage_error("the order {} of a norm of {}; give a number or infinity", p, describe(x));
  if (p < 0 || std::isinf(p)) require_elements(x, axes);
  if (p == 2) return root(sum(x * x, axes), p);
  UOp zero = like(x, 0.0);
  if (p == 0) return sum(cast(ne(x, zero), x->dtype), axes);
  UOp size = alu(Op::Abs, {x});
  if (std::isinf(p)) return reduce(p > 0 ? Combine::Max : Combine::Min, size, axes);
  if (p == 1) return sum(size, axes);
  // A zero's power is a constant: its derivative is infinite for p < 1, and no number for p < 0.
  UOp none = eq(size, zero), safe = where(none, like(size, 1.0), size);
  UOp power = where(none, like(size, p > 0 ? 0.0 : std::numeric_limits<double>::infinity()),
                    alu(Op::Pow, {safe, like(safe, p)}));
  UOp total = sum(power, axes);
  return p > 0 ? root(total, p) : alu(Op::Pow, {total, like(total, 1 / p)});
}

UOp arg_reduce(Combine combine, UOp x, UOp place, const Ints& axes, UOp among) {
  if (is_bool(x->dtype)) x = cast(x, DType::U8);
  if (among) {
    x = where(among, x, like(x, reduction_identity(combine, x->dtype)));
    place = where(among, place, like(place, reduction_identity(combine, place->dtype, 1)));
  }
  const UOp pairs[] = {x, place};
  return reduce(combine, pairs, axes, 1);
}

void require_elements(UOp x, const Ints& axes) {
  for (int64_t a : axes)
    if (x->shape[a].value() == 0)
      usage_error("{} has 0 elements along axis {}, and 0 elements have no largest or smallest; check the size first",
                  describe(x), a);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

Tensor wrap_reduced(UOp reduced, const Ints& axes, bool keepdim) {
  return wrap(keepdim ? insert_axes(reduced, axes) : reduced);
}
/// Converts a result computed in ir::to_compute_type() of x back to x's dtype.
Tensor wrap_reduced(UOp x, UOp reduced, const Ints& axes, bool keepdim) {
  return wrap_reduced(cast(reduced, x->dtype), axes, keepdim);
}

/// x with 0 in place of NaN.
UOp without_nan(UOp x) { return is_float(x->dtype) ? where(eq(x, x), x, like(x, 0.0)) : x; }
UOp to_float(UOp x) { return is_float(x->dtype) ? x : cast(x, DType::F32); }

Tensor extreme(std::string_view name, Combine combine, const Tensor& t, const Axes& axes, bool keepdim, Loc where) {
  Call call(name, where);
  UOp x = node_of(t);
  Ints list = axes_of(x, axes);
  require_elements(x, list);
  return wrap_reduced(reduce(combine, x, list), list, keepdim);
}

Tensor truth(std::string_view name, Combine combine, const Tensor& t, const Axes& axes, bool keepdim, Loc where) {
  Call call(name, where);
  UOp x = cast(node_of(t), DType::Bool);
  Ints list = axes_of(x, axes);
  return wrap_reduced(reduce(combine, x, list), list, keepdim);
}

Tensor arg_extreme(std::string_view name, Combine combine, const Tensor& t, std::optional<int64_t> axis, bool keepdim,
                   Loc where) {
  Call call(name, where);
  UOp x = detach(node_of(t));
  Ints axes = axis ? Ints{axis_of(x, *axis)} : ir::all_axes(x->rank());
  require_elements(x, axes);
  UOp places = axis ? position(x->shape, axes[0], x->device) : flat_position(x->shape, x->device);
  return wrap_reduced(arg_reduce(combine, x, places, axes), axes, keepdim);
}

}  // namespace

Tensor Tensor::sum(Axes axes, bool keepdim, Loc where) const {
  Call call("sum", where);
  UOp x = widen_sum(node_of(*this));
  Ints list = axes_of(x, axes);
  return wrap_reduced(reduce(Combine::Add, x, list), list, keepdim);
}
Tensor Tensor::prod(Axes axes, bool keepdim, Loc where) const {
  Call call("prod", where);
  UOp x = widen_sum(node_of(*this));
  Ints list = axes_of(x, axes);
  return wrap_reduced(reduce(Combine::Mul, x, list), list, keepdim);
}
Tensor Tensor::mean(Axes axes, bool keepdim, Loc where) const {
  Call call("mean", where);
  UOp x = to_float(node_of(*this));
  Ints list = axes_of(x, axes);
  return wrap_reduced(x, mean_over(to_compute_type(x), list), list, keepdim);
}
Tensor Tensor::var(Axes axes, int64_t correction, bool keepdim, Loc where) const {
  Call call("var", where);
  UOp x = to_float(node_of(*this));
  Ints list = axes_of(x, axes);
  return wrap_reduced(x, variance_over(to_compute_type(x), list, correction), list, keepdim);
}
Tensor Tensor::std(Axes axes, int64_t correction, bool keepdim, Loc where) const {
  Call call("std", where);
  UOp x = to_float(node_of(*this));
  Ints list = axes_of(x, axes);
  return wrap_reduced(x, root(variance_over(to_compute_type(x), list, correction), 2), list, keepdim);
}
Tensor Tensor::max(Axes axes, bool keepdim, Loc where) const {
  return extreme("max", Combine::Max, *this, axes, keepdim, where);
}
Tensor Tensor::min(Axes axes, bool keepdim, Loc where) const {
  return extreme("min", Combine::Min, *this, axes, keepdim, where);
}
Tensor Tensor::any(Axes axes, bool keepdim, Loc where) const {
  return truth("any", Combine::Max, *this, axes, keepdim, where);
}
Tensor Tensor::all(Axes axes, bool keepdim, Loc where) const {
  return truth("all", Combine::Min, *this, axes, keepdim, where);
}
Tensor Tensor::argmax(std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return arg_extreme("argmax", Combine::ArgMax, *this, axis, keepdim, where);
}
Tensor Tensor::argmin(std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return arg_extreme("argmin", Combine::ArgMin, *this, axis, keepdim, where);
}

Tensor amax(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  return extreme("amax", Combine::Max, x, axes, keepdim, where);
}
Tensor amin(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  return extreme("amin", Combine::Min, x, axes, keepdim, where);
}
std::pair<Tensor, Tensor> aminmax(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  Call call("aminmax", where);
  return {x.min(axes, keepdim, where), x.max(axes, keepdim, where)};
}
std::pair<Tensor, Tensor> std_mean(const Tensor& x, Axes axes, int64_t correction, bool keepdim, Loc where) {
  Call call("std_mean", where);
  return {x.std(axes, correction, keepdim, where), x.mean(axes, keepdim, where)};
}
std::pair<Tensor, Tensor> var_mean(const Tensor& x, Axes axes, int64_t correction, bool keepdim, Loc where) {
  Call call("var_mean", where);
  return {x.var(axes, correction, keepdim, where), x.mean(axes, keepdim, where)};
}

Tensor count_nonzero(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  Call call("count_nonzero", where);
  return wrap(cast(node_of(x), DType::Bool)).sum(std::move(axes), keepdim, where);
}

Tensor nansum(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  Call call("nansum", where);
  return wrap(without_nan(node_of(x))).sum(std::move(axes), keepdim, where);
}

Tensor nanmean(const Tensor& x, Axes axes, bool keepdim, Loc where) {
  Call call("nanmean", where);
  UOp n = to_float(node_of(x)), wide = to_compute_type(n);
  Ints list = axes_of(n, axes);
  UOp count = sum(cast(eq(wide, wide), wide->dtype), list);
  return wrap_reduced(n, sum(without_nan(wide), list) / count, list, keepdim);
}

}  // namespace v0
}  // namespace sinter
