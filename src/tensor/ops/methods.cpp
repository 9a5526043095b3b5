// Each method calls the function of its name. Those that write are in in_place.cpp.
#include "sinter/tensor_methods.h"

#include "sinter/for_each.h"
#include "sinter/ops.h"

namespace sinter::inline v0 {

const Tensor& TensorMethods::self() const { return static_cast<const Tensor&>(*this); }

// The signatures that many methods have.
#define SINTER_UNARY(f) \
  Tensor TensorMethods::f(Loc where) const { return sinter::f(Arg(self(), where)); }
#define SINTER_BINARY(f) \
  Tensor TensorMethods::f(Arg other, Loc where) const { return sinter::f(Arg(self(), where), other); }
#define SINTER_OVER_AXES(f)                                           \
  Tensor TensorMethods::f(Axes axes, bool keepdim, Loc where) const { \
    return sinter::f(self(), std::move(axes), keepdim, where);        \
  }
#define SINTER_ALONG_AXIS(f) \
  Tensor TensorMethods::f(int64_t axis, Loc where) const { return sinter::f(Arg(self(), where), axis); }
SINTER_FOR_EACH(SINTER_UNARY, abs, acos, acosh, asin, asinh, atan, atanh, bitwise_not, ceil, cos, cosh, deg2rad, erf,
                erfc, erfinv, exp, exp2, expm1, floor, frac, isfinite, isinf, isnan, log, log10, log1p, log2,
                logical_not, negative, positive, rad2deg, reciprocal, relu, round, rsqrt, sigmoid, sign, signbit, sin,
                sinc, sinh, sqrt, square, tan, tanh, trunc, det, inverse, logdet, median, nanmedian, msort, nonzero,
                argwhere)
SINTER_FOR_EACH(SINTER_BINARY, atan2, bitwise_and, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor,
                clamp_max, clamp_min, copysign, eq, float_power, floor_divide, fmod, ge, gt, heaviside, hypot, ldexp,
                le, logaddexp, logaddexp2, logical_and, logical_or, logical_xor, lt, maximum, minimum, mul, ne, pow,
                remainder, true_divide, xlogy, add, sub, div, matmul, mm, bmm, mv, dot, inner, outer, kron)
SINTER_FOR_EACH(SINTER_OVER_AXES, amax, amin, count_nonzero, nansum, nanmean)
SINTER_FOR_EACH(SINTER_ALONG_AXIS, softmax, log_softmax, cumsum, cumprod, logcumsumexp)
#undef SINTER_UNARY
#undef SINTER_BINARY
#undef SINTER_OVER_AXES
#undef SINTER_ALONG_AXIS

Tensor TensorMethods::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf,
                                 Loc where) const {
  return sinter::nan_to_num(Arg(self(), where), nan, posinf, neginf);
}
Tensor TensorMethods::logit(std::optional<double> eps, Loc where) const {
  return sinter::logit(Arg(self(), where), eps);
}
Tensor TensorMethods::add(Arg other, Arg alpha, Loc where) const {
  return sinter::add(Arg(self(), where), other, alpha);
}
Tensor TensorMethods::sub(Arg other, Arg alpha, Loc where) const {
  return sinter::sub(Arg(self(), where), other, alpha);
}
Tensor TensorMethods::div(Arg other, RoundingMode rounding_mode, Loc where) const {
  return sinter::div(Arg(self(), where), other, rounding_mode);
}
Tensor TensorMethods::clamp(Arg lo, Arg hi, Loc where) const { return sinter::clamp(Arg(self(), where), lo, hi); }
Tensor TensorMethods::clamp(Arg lo, Loc where) const { return sinter::clamp_min(Arg(self(), where), lo); }
Tensor TensorMethods::clamp(std::nullopt_t, Arg hi, Loc where) const {
  return sinter::clamp_max(Arg(self(), where), hi);
}
Tensor TensorMethods::lerp(Arg end, Arg weight, Loc where) const {
  return sinter::lerp(Arg(self(), where), end, weight);
}
Tensor TensorMethods::addcmul(Arg a, Arg b, Loc where) const { return sinter::addcmul(Arg(self(), where), a, b); }
Tensor TensorMethods::addcmul(Arg a, Arg b, Arg value, Loc where) const {
  return sinter::addcmul(Arg(self(), where), a, b, value);
}
Tensor TensorMethods::addcdiv(Arg a, Arg b, Loc where) const { return sinter::addcdiv(Arg(self(), where), a, b); }
Tensor TensorMethods::addcdiv(Arg a, Arg b, Arg value, Loc where) const {
  return sinter::addcdiv(Arg(self(), where), a, b, value);
}
Tensor TensorMethods::where(Arg condition, Arg other, Loc at) const {
  return sinter::where(condition, Arg(self(), at), other);
}
Tensor TensorMethods::masked_fill(Arg mask, Arg value, Loc where) const {
  return sinter::masked_fill(Arg(self(), where), mask, value);
}
Tensor TensorMethods::isclose(Arg other, double rtol, double atol, bool equal_nan, Loc where) const {
  return sinter::isclose(Arg(self(), where), other, rtol, atol, equal_nan);
}
bool TensorMethods::allclose(Arg other, double rtol, double atol, bool equal_nan, Loc where) const {
  return sinter::allclose(Arg(self(), where), other, rtol, atol, equal_nan);
}
bool TensorMethods::equal(Arg other, Loc where) const { return sinter::equal(Arg(self(), where), other); }

Tensor TensorMethods::view(Shape shape, Loc where) const { return self().reshape(std::move(shape), where); }
Tensor TensorMethods::view_as(const Tensor& like, Loc where) const { return sinter::view_as(self(), like, where); }
Tensor TensorMethods::reshape_as(const Tensor& like, Loc where) const {
  return sinter::reshape_as(self(), like, where);
}
Tensor TensorMethods::expand_as(const Tensor& like, Loc where) const { return sinter::expand_as(self(), like, where); }
Tensor TensorMethods::unflatten(int64_t axis, const Shape& sizes, Loc where) const {
  return sinter::unflatten(self(), axis, sizes, where);
}
Tensor TensorMethods::t(Loc where) const { return sinter::t(self(), where); }
Tensor TensorMethods::ravel(Loc where) const { return sinter::ravel(self(), where); }
Tensor TensorMethods::fliplr(Loc where) const { return sinter::fliplr(self(), where); }
Tensor TensorMethods::flipud(Loc where) const { return sinter::flipud(self(), where); }
Tensor TensorMethods::swapaxes(int64_t a, int64_t b, Loc where) const { return sinter::swapaxes(self(), a, b, where); }
Tensor TensorMethods::broadcast_to(const Shape& shape, Loc where) const {
  return sinter::broadcast_to(self(), shape, where);
}
Tensor TensorMethods::narrow(int64_t axis, int64_t start, const Dim& length, Loc where) const {
  return sinter::narrow(self(), axis, start, length, where);
}
Tensor TensorMethods::narrow(int64_t axis, const Tensor& start, const Dim& length, Loc where) const {
  return sinter::narrow(self(), axis, start, length, where);
}
Tensor TensorMethods::select(int64_t axis, int64_t index, Loc where) const {
  return sinter::select(self(), axis, index, where);
}
std::vector<Tensor> TensorMethods::unbind(int64_t axis, Loc where) const { return sinter::unbind(self(), axis, where); }
std::vector<Tensor> TensorMethods::tensor_split(const std::vector<int64_t>& indices, int64_t axis, Loc where) const {
  return sinter::tensor_split(self(), indices, axis, where);
}
std::vector<Tensor> TensorMethods::split_evenly(int64_t sections, int64_t axis, Loc where) const {
  return sinter::tensor_split(self(), sections, axis, where);
}
Tensor TensorMethods::roll(int64_t shift, std::optional<int64_t> axis, Loc where) const {
  return sinter::roll(self(), shift, axis, where);
}
Tensor TensorMethods::roll(const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes, Loc where) const {
  return sinter::roll(self(), shifts, axes, where);
}
Tensor TensorMethods::rot90(int64_t times, const std::vector<int64_t>& axes, Loc where) const {
  return sinter::rot90(self(), times, axes, where);
}
Tensor TensorMethods::repeat(const std::vector<int64_t>& counts, Loc where) const {
  return sinter::repeat(self(), counts, where);
}
Tensor TensorMethods::tile(const std::vector<int64_t>& counts, Loc where) const {
  return sinter::tile(self(), counts, where);
}
Tensor TensorMethods::repeat_interleave(int64_t count, std::optional<int64_t> axis, Loc where) const {
  return sinter::repeat_interleave(self(), count, axis, where);
}
Tensor TensorMethods::diagonal(int64_t offset, int64_t a, int64_t b, Loc where) const {
  return sinter::diagonal(self(), offset, a, b, where);
}
Tensor TensorMethods::diag_embed(int64_t offset, int64_t a, int64_t b, Loc where) const {
  return sinter::diag_embed(self(), offset, a, b, where);
}
Tensor TensorMethods::diag(int64_t offset, Loc where) const { return sinter::diag(self(), offset, where); }
Tensor TensorMethods::trace(Loc where) const { return sinter::trace(self(), where); }
Tensor TensorMethods::triu(int64_t offset, Loc where) const { return sinter::triu(self(), offset, where); }
Tensor TensorMethods::tril(int64_t offset, Loc where) const { return sinter::tril(self(), offset, where); }
Tensor TensorMethods::diff(int64_t n, int64_t axis, Loc where) const {
  return sinter::diff(self(), n, axis, {}, {}, where);
}

Tensor TensorMethods::cross(Arg other, int64_t axis, Loc where) const {
  return sinter::cross(Arg(self(), where), other, axis);
}
Tensor TensorMethods::matrix_power(int64_t n, Loc where) const { return sinter::matrix_power(Arg(self(), where), n); }
Tensor TensorMethods::addmm(Arg a, Arg b, Arg beta, Arg alpha, Loc where) const {
  return sinter::addmm(Arg(self(), where), a, b, beta, alpha);
}
Tensor TensorMethods::baddbmm(Arg a, Arg b, Arg beta, Arg alpha, Loc where) const {
  return sinter::baddbmm(Arg(self(), where), a, b, beta, alpha);
}
Tensor TensorMethods::addmv(Arg a, Arg b, Arg beta, Arg alpha, Loc where) const {
  return sinter::addmv(Arg(self(), where), a, b, beta, alpha);
}
Tensor TensorMethods::norm(double p, Axes axes, bool keepdim, Loc where) const {
  return sinter::norm(Arg(self(), where), p, std::move(axes), keepdim);
}

Tensor TensorMethods::cholesky(bool upper, Loc where) const { return sinter::cholesky(Arg(self(), where), upper); }
SlogDet TensorMethods::slogdet(Loc where) const { return sinter::slogdet(Arg(self(), where)); }
QR TensorMethods::qr(std::string_view mode, Loc where) const { return sinter::qr(Arg(self(), where), mode); }
SVD TensorMethods::svd(bool full_matrices, Loc where) const { return sinter::svd(Arg(self(), where), full_matrices); }

std::pair<Tensor, Tensor> TensorMethods::aminmax(Axes axes, bool keepdim, Loc where) const {
  return sinter::aminmax(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::logsumexp(Axes axes, bool keepdim, Loc where) const {
  return sinter::logsumexp(Arg(self(), where), std::move(axes), keepdim);
}
Ranked TensorMethods::cummax(int64_t axis, Loc where) const { return sinter::cummax(Arg(self(), where), axis); }
Ranked TensorMethods::cummin(int64_t axis, Loc where) const { return sinter::cummin(Arg(self(), where), axis); }
Ranked TensorMethods::sort(int64_t axis, bool descending, Loc where) const {
  return sinter::sort(Arg(self(), where), axis, descending);
}
Tensor TensorMethods::argsort(int64_t axis, bool descending, Loc where) const {
  return sinter::argsort(Arg(self(), where), axis, descending);
}
Ranked TensorMethods::topk(int64_t k, int64_t axis, bool largest, bool sorted, Loc where) const {
  return sinter::topk(Arg(self(), where), k, axis, largest, sorted);
}
Ranked TensorMethods::kthvalue(int64_t k, int64_t axis, bool keepdim, Loc where) const {
  return sinter::kthvalue(Arg(self(), where), k, axis, keepdim);
}
Ranked TensorMethods::median(int64_t axis, bool keepdim, Loc where) const {
  return sinter::median(Arg(self(), where), axis, keepdim);
}
Tensor TensorMethods::quantile(Arg q, std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return sinter::quantile(Arg(self(), where), q, axis, keepdim);
}
Tensor TensorMethods::nanquantile(Arg q, std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return sinter::nanquantile(Arg(self(), where), q, axis, keepdim);
}
Ranked TensorMethods::nanmedian(int64_t axis, bool keepdim, Loc where) const {
  return sinter::nanmedian(Arg(self(), where), axis, keepdim);
}
Ranked TensorMethods::mode(int64_t axis, bool keepdim, Loc where) const {
  return sinter::mode(Arg(self(), where), axis, keepdim);
}
Distinct TensorMethods::unique(Loc where) const { return sinter::unique(Arg(self(), where)); }
Tensor TensorMethods::bincount(int64_t least, Loc where) const { return sinter::bincount(self(), least, where); }
Tensor TensorMethods::bincount(const Tensor& weights, int64_t least, Loc where) const {
  return sinter::bincount(self(), weights, least, where);
}
Tensor TensorMethods::histc(int64_t bins, double low, double high, Loc where) const {
  return sinter::histc(Arg(self(), where), bins, low, high);
}

Tensor TensorMethods::gather(int64_t axis, const Tensor& index, Loc where) const {
  return sinter::gather(Arg(self(), where), axis, index);
}
Tensor TensorMethods::take_along_dim(const Tensor& index, int64_t axis, Loc where) const {
  return sinter::take_along_dim(Arg(self(), where), index, axis);
}
Tensor TensorMethods::index_select(int64_t axis, const Tensor& index, Loc where) const {
  return sinter::index_select(Arg(self(), where), axis, index);
}
Tensor TensorMethods::take(const Tensor& index, Loc where) const { return sinter::take(Arg(self(), where), index); }
Tensor TensorMethods::scatter(int64_t axis, const Tensor& index, Arg value, Loc where) const {
  return sinter::scatter(Arg(self(), where), axis, index, value);
}
Tensor TensorMethods::scatter_add(int64_t axis, const Tensor& index, Arg value, Loc where) const {
  return sinter::scatter_add(Arg(self(), where), axis, index, value);
}
Tensor TensorMethods::scatter_reduce(int64_t axis, const Tensor& index, Arg value, ScatterReduce reduce,
                                     bool include_self, Loc where) const {
  return sinter::scatter_reduce(Arg(self(), where), axis, index, value, reduce, include_self);
}
Tensor TensorMethods::index_add(int64_t axis, const Tensor& index, Arg source, Loc where) const {
  return sinter::index_add(Arg(self(), where), axis, index, source);
}
Tensor TensorMethods::index_copy(int64_t axis, const Tensor& index, Arg source, Loc where) const {
  return sinter::index_copy(Arg(self(), where), axis, index, source);
}
Tensor TensorMethods::index_fill(int64_t axis, const Tensor& index, Arg value, Loc where) const {
  return sinter::index_fill(Arg(self(), where), axis, index, value);
}
Tensor TensorMethods::index_put(const std::vector<Tensor>& indices, Arg value, bool accumulate, Loc where) const {
  return sinter::index_put(Arg(self(), where), indices, value, accumulate);
}
Tensor TensorMethods::masked_select(const Tensor& mask, Loc where) const {
  return sinter::masked_select(Arg(self(), where), mask);
}
Tensor TensorMethods::masked_scatter(const Tensor& mask, Arg source, Loc where) const {
  return sinter::masked_scatter(Arg(self(), where), mask, source);
}
Tensor TensorMethods::multinomial(int64_t count, bool replacement, Loc where) const {
  return sinter::multinomial(self(), count, replacement, {}, where);
}
Tensor TensorMethods::multinomial(int64_t count, bool replacement, const RandomOptions& options, Loc where) const {
  return sinter::multinomial(self(), count, replacement, options, where);
}

}  // namespace sinter::inline v0
