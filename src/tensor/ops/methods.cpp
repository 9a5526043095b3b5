// Each method calls the function of its name. Those that write are in in_place.cpp.
#include "sinter/tensor_methods.h"

#include "sinter/create.h"
#include "sinter/ops.h"

namespace sinter::inline v0 {

const Tensor& TensorMethods::self() const { return static_cast<const Tensor&>(*this); }

Tensor TensorMethods::abs(Loc where) const { return sinter::abs(Arg(self(), where)); }
Tensor TensorMethods::acos(Loc where) const { return sinter::acos(Arg(self(), where)); }
Tensor TensorMethods::acosh(Loc where) const { return sinter::acosh(Arg(self(), where)); }
Tensor TensorMethods::asin(Loc where) const { return sinter::asin(Arg(self(), where)); }
Tensor TensorMethods::asinh(Loc where) const { return sinter::asinh(Arg(self(), where)); }
Tensor TensorMethods::atan(Loc where) const { return sinter::atan(Arg(self(), where)); }
Tensor TensorMethods::atanh(Loc where) const { return sinter::atanh(Arg(self(), where)); }
Tensor TensorMethods::bitwise_not(Loc where) const { return sinter::bitwise_not(Arg(self(), where)); }
Tensor TensorMethods::ceil(Loc where) const { return sinter::ceil(Arg(self(), where)); }
Tensor TensorMethods::cos(Loc where) const { return sinter::cos(Arg(self(), where)); }
Tensor TensorMethods::cosh(Loc where) const { return sinter::cosh(Arg(self(), where)); }
Tensor TensorMethods::deg2rad(Loc where) const { return sinter::deg2rad(Arg(self(), where)); }
Tensor TensorMethods::erf(Loc where) const { return sinter::erf(Arg(self(), where)); }
Tensor TensorMethods::erfc(Loc where) const { return sinter::erfc(Arg(self(), where)); }
Tensor TensorMethods::erfinv(Loc where) const { return sinter::erfinv(Arg(self(), where)); }
Tensor TensorMethods::exp(Loc where) const { return sinter::exp(Arg(self(), where)); }
Tensor TensorMethods::exp2(Loc where) const { return sinter::exp2(Arg(self(), where)); }
Tensor TensorMethods::expm1(Loc where) const { return sinter::expm1(Arg(self(), where)); }
Tensor TensorMethods::floor(Loc where) const { return sinter::floor(Arg(self(), where)); }
Tensor TensorMethods::frac(Loc where) const { return sinter::frac(Arg(self(), where)); }
Tensor TensorMethods::isfinite(Loc where) const { return sinter::isfinite(Arg(self(), where)); }
Tensor TensorMethods::isinf(Loc where) const { return sinter::isinf(Arg(self(), where)); }
Tensor TensorMethods::isnan(Loc where) const { return sinter::isnan(Arg(self(), where)); }
Tensor TensorMethods::log(Loc where) const { return sinter::log(Arg(self(), where)); }
Tensor TensorMethods::log10(Loc where) const { return sinter::log10(Arg(self(), where)); }
Tensor TensorMethods::log1p(Loc where) const { return sinter::log1p(Arg(self(), where)); }
Tensor TensorMethods::log2(Loc where) const { return sinter::log2(Arg(self(), where)); }
Tensor TensorMethods::logical_not(Loc where) const { return sinter::logical_not(Arg(self(), where)); }
Tensor TensorMethods::negative(Loc where) const { return sinter::negative(Arg(self(), where)); }
Tensor TensorMethods::positive(Loc where) const { return sinter::positive(Arg(self(), where)); }
Tensor TensorMethods::rad2deg(Loc where) const { return sinter::rad2deg(Arg(self(), where)); }
Tensor TensorMethods::reciprocal(Loc where) const { return sinter::reciprocal(Arg(self(), where)); }
Tensor TensorMethods::relu(Loc where) const { return sinter::relu(Arg(self(), where)); }
Tensor TensorMethods::round(Loc where) const { return sinter::round(Arg(self(), where)); }
Tensor TensorMethods::rsqrt(Loc where) const { return sinter::rsqrt(Arg(self(), where)); }
Tensor TensorMethods::sigmoid(Loc where) const { return sinter::sigmoid(Arg(self(), where)); }
Tensor TensorMethods::sign(Loc where) const { return sinter::sign(Arg(self(), where)); }
Tensor TensorMethods::signbit(Loc where) const { return sinter::signbit(Arg(self(), where)); }
Tensor TensorMethods::sin(Loc where) const { return sinter::sin(Arg(self(), where)); }
Tensor TensorMethods::sinc(Loc where) const { return sinter::sinc(Arg(self(), where)); }
Tensor TensorMethods::sinh(Loc where) const { return sinter::sinh(Arg(self(), where)); }
Tensor TensorMethods::sqrt(Loc where) const { return sinter::sqrt(Arg(self(), where)); }
Tensor TensorMethods::square(Loc where) const { return sinter::square(Arg(self(), where)); }
Tensor TensorMethods::tan(Loc where) const { return sinter::tan(Arg(self(), where)); }
Tensor TensorMethods::tanh(Loc where) const { return sinter::tanh(Arg(self(), where)); }
Tensor TensorMethods::trunc(Loc where) const { return sinter::trunc(Arg(self(), where)); }
Tensor TensorMethods::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf,
                                 Loc where) const {
  return sinter::nan_to_num(Arg(self(), where), nan, posinf, neginf);
}
Tensor TensorMethods::hardshrink(double lambda, Loc where) const {
  return sinter::hardshrink(Arg(self(), where), lambda);
}
Tensor TensorMethods::prelu(const Tensor& weight, Loc where) const { return sinter::prelu(Arg(self(), where), weight); }
Tensor TensorMethods::logit(std::optional<double> eps, Loc where) const {
  return sinter::logit(Arg(self(), where), eps);
}
Tensor TensorMethods::atan2(Arg other, Loc where) const { return sinter::atan2(Arg(self(), where), other); }
Tensor TensorMethods::bitwise_and(Arg other, Loc where) const { return sinter::bitwise_and(Arg(self(), where), other); }
Tensor TensorMethods::bitwise_left_shift(Arg other, Loc where) const {
  return sinter::bitwise_left_shift(Arg(self(), where), other);
}
Tensor TensorMethods::bitwise_or(Arg other, Loc where) const { return sinter::bitwise_or(Arg(self(), where), other); }
Tensor TensorMethods::bitwise_right_shift(Arg other, Loc where) const {
  return sinter::bitwise_right_shift(Arg(self(), where), other);
}
Tensor TensorMethods::bitwise_xor(Arg other, Loc where) const { return sinter::bitwise_xor(Arg(self(), where), other); }
Tensor TensorMethods::clamp_max(Arg other, Loc where) const { return sinter::clamp_max(Arg(self(), where), other); }
Tensor TensorMethods::clamp_min(Arg other, Loc where) const { return sinter::clamp_min(Arg(self(), where), other); }
Tensor TensorMethods::copysign(Arg other, Loc where) const { return sinter::copysign(Arg(self(), where), other); }
Tensor TensorMethods::eq(Arg other, Loc where) const { return sinter::eq(Arg(self(), where), other); }
Tensor TensorMethods::float_power(Arg other, Loc where) const { return sinter::float_power(Arg(self(), where), other); }
Tensor TensorMethods::floor_divide(Arg other, Loc where) const {
  return sinter::floor_divide(Arg(self(), where), other);
}
Tensor TensorMethods::fmod(Arg other, Loc where) const { return sinter::fmod(Arg(self(), where), other); }
Tensor TensorMethods::ge(Arg other, Loc where) const { return sinter::ge(Arg(self(), where), other); }
Tensor TensorMethods::gt(Arg other, Loc where) const { return sinter::gt(Arg(self(), where), other); }
Tensor TensorMethods::heaviside(Arg other, Loc where) const { return sinter::heaviside(Arg(self(), where), other); }
Tensor TensorMethods::hypot(Arg other, Loc where) const { return sinter::hypot(Arg(self(), where), other); }
Tensor TensorMethods::ldexp(Arg other, Loc where) const { return sinter::ldexp(Arg(self(), where), other); }
Tensor TensorMethods::le(Arg other, Loc where) const { return sinter::le(Arg(self(), where), other); }
Tensor TensorMethods::logaddexp(Arg other, Loc where) const { return sinter::logaddexp(Arg(self(), where), other); }
Tensor TensorMethods::logaddexp2(Arg other, Loc where) const { return sinter::logaddexp2(Arg(self(), where), other); }
Tensor TensorMethods::logical_and(Arg other, Loc where) const { return sinter::logical_and(Arg(self(), where), other); }
Tensor TensorMethods::logical_or(Arg other, Loc where) const { return sinter::logical_or(Arg(self(), where), other); }
Tensor TensorMethods::logical_xor(Arg other, Loc where) const { return sinter::logical_xor(Arg(self(), where), other); }
Tensor TensorMethods::lt(Arg other, Loc where) const { return sinter::lt(Arg(self(), where), other); }
Tensor TensorMethods::maximum(Arg other, Loc where) const { return sinter::maximum(Arg(self(), where), other); }
Tensor TensorMethods::minimum(Arg other, Loc where) const { return sinter::minimum(Arg(self(), where), other); }
Tensor TensorMethods::mul(Arg other, Loc where) const { return sinter::mul(Arg(self(), where), other); }
Tensor TensorMethods::ne(Arg other, Loc where) const { return sinter::ne(Arg(self(), where), other); }
Tensor TensorMethods::pow(Arg other, Loc where) const { return sinter::pow(Arg(self(), where), other); }
Tensor TensorMethods::remainder(Arg other, Loc where) const { return sinter::remainder(Arg(self(), where), other); }
Tensor TensorMethods::true_divide(Arg other, Loc where) const { return sinter::true_divide(Arg(self(), where), other); }
Tensor TensorMethods::xlogy(Arg other, Loc where) const { return sinter::xlogy(Arg(self(), where), other); }
Tensor TensorMethods::add(Arg other, Loc where) const { return sinter::add(Arg(self(), where), other); }
Tensor TensorMethods::add(Arg other, Arg alpha, Loc where) const {
  return sinter::add(Arg(self(), where), other, alpha);
}
Tensor TensorMethods::sub(Arg other, Loc where) const { return sinter::sub(Arg(self(), where), other); }
Tensor TensorMethods::sub(Arg other, Arg alpha, Loc where) const {
  return sinter::sub(Arg(self(), where), other, alpha);
}
Tensor TensorMethods::div(Arg other, Loc where) const { return sinter::div(Arg(self(), where), other); }
Tensor TensorMethods::div(Arg other, Choice<RoundingMode> rounding_mode, Loc where) const {
  return sinter::div(Arg(self(), where), other, rounding_mode);
}
Tensor TensorMethods::clamp(Arg lo, Arg hi, Loc where) const { return sinter::clamp(Arg(self(), where), lo, hi); }
Tensor TensorMethods::clamp(Arg lo, Loc where) const { return sinter::clamp(Arg(self(), where), lo); }
Tensor TensorMethods::clamp(Arg lo, std::nullopt_t, Loc where) const { return sinter::clamp(Arg(self(), where), lo); }
Tensor TensorMethods::clamp(std::nullopt_t none, Arg hi, Loc where) const {
  return sinter::clamp(Arg(self(), where), none, hi);
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
std::vector<Tensor> TensorMethods::hsplit(const std::vector<int64_t>& indices, Loc where) const {
  return sinter::hsplit(self(), indices, where);
}
std::vector<Tensor> TensorMethods::hsplit_evenly(int64_t sections, Loc where) const {
  return sinter::hsplit(self(), sections, where);
}
std::vector<Tensor> TensorMethods::vsplit(const std::vector<int64_t>& indices, Loc where) const {
  return sinter::vsplit(self(), indices, where);
}
std::vector<Tensor> TensorMethods::vsplit_evenly(int64_t sections, Loc where) const {
  return sinter::vsplit(self(), sections, where);
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
Tensor TensorMethods::repeat_interleave(const Tensor& repeats, std::optional<int64_t> axis,
                                        std::optional<int64_t> output_size, Loc where) const {
  return sinter::repeat_interleave(self(), repeats, axis, output_size, where);
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

Tensor TensorMethods::matmul(Arg other, Loc where) const { return sinter::matmul(Arg(self(), where), other); }
Tensor TensorMethods::mm(Arg other, Loc where) const { return sinter::mm(Arg(self(), where), other); }
Tensor TensorMethods::bmm(Arg other, Loc where) const { return sinter::bmm(Arg(self(), where), other); }
Tensor TensorMethods::mv(Arg other, Loc where) const { return sinter::mv(Arg(self(), where), other); }
Tensor TensorMethods::dot(Arg other, Loc where) const { return sinter::dot(Arg(self(), where), other); }
Tensor TensorMethods::inner(Arg other, Loc where) const { return sinter::inner(Arg(self(), where), other); }
Tensor TensorMethods::outer(Arg other, Loc where) const { return sinter::outer(Arg(self(), where), other); }
Tensor TensorMethods::kron(Arg other, Loc where) const { return sinter::kron(Arg(self(), where), other); }
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
Tensor TensorMethods::det(Loc where) const { return sinter::det(Arg(self(), where)); }
Tensor TensorMethods::inverse(Loc where) const { return sinter::inverse(Arg(self(), where)); }
Tensor TensorMethods::logdet(Loc where) const { return sinter::logdet(Arg(self(), where)); }
LU TensorMethods::lu(Loc where) const { return sinter::lu(Arg(self(), where)); }
Tensor TensorMethods::pinverse(std::optional<double> cutoff, Loc where) const {
  return sinter::pinverse(Arg(self(), where), cutoff);
}
Tensor TensorMethods::cholesky_solve(Arg l, bool upper, Loc where) const {
  return sinter::cholesky_solve(Arg(self(), where), l, upper);
}
SlogDet TensorMethods::slogdet(Loc where) const { return sinter::slogdet(Arg(self(), where)); }
QR TensorMethods::qr(std::string_view mode, Loc where) const { return sinter::qr(Arg(self(), where), mode); }
SVD TensorMethods::svd(bool full_matrices, Loc where) const { return sinter::svd(Arg(self(), where), full_matrices); }

Tensor TensorMethods::amax(Axes axes, bool keepdim, Loc where) const {
  return sinter::amax(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::amin(Axes axes, bool keepdim, Loc where) const {
  return sinter::amin(self(), std::move(axes), keepdim, where);
}
std::pair<Tensor, Tensor> TensorMethods::aminmax(Axes axes, bool keepdim, Loc where) const {
  return sinter::aminmax(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::count_nonzero(Axes axes, bool keepdim, Loc where) const {
  return sinter::count_nonzero(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::nansum(Axes axes, bool keepdim, Loc where) const {
  return sinter::nansum(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::nanmean(Axes axes, bool keepdim, Loc where) const {
  return sinter::nanmean(self(), std::move(axes), keepdim, where);
}
Tensor TensorMethods::softmax(int64_t axis, Loc where) const { return sinter::softmax(Arg(self(), where), axis); }
Tensor TensorMethods::log_softmax(int64_t axis, Loc where) const {
  return sinter::log_softmax(Arg(self(), where), axis);
}
Tensor TensorMethods::logsumexp(Axes axes, bool keepdim, Loc where) const {
  return sinter::logsumexp(Arg(self(), where), std::move(axes), keepdim);
}
Tensor TensorMethods::cumsum(int64_t axis, Loc where) const { return sinter::cumsum(Arg(self(), where), axis); }
Tensor TensorMethods::cumprod(int64_t axis, Loc where) const { return sinter::cumprod(Arg(self(), where), axis); }
Tensor TensorMethods::logcumsumexp(int64_t axis, Loc where) const {
  return sinter::logcumsumexp(Arg(self(), where), axis);
}
Ranked TensorMethods::cummax(int64_t axis, Loc where) const { return sinter::cummax(Arg(self(), where), axis); }
Ranked TensorMethods::cummin(int64_t axis, Loc where) const { return sinter::cummin(Arg(self(), where), axis); }
Ranked TensorMethods::sort(int64_t axis, bool descending, bool stable, Loc where) const {
  return sinter::sort(Arg(self(), where), axis, descending, stable);
}
Tensor TensorMethods::argsort(int64_t axis, bool descending, bool stable, Loc where) const {
  return sinter::argsort(Arg(self(), where), axis, descending, stable);
}
Ranked TensorMethods::topk(int64_t k, int64_t axis, bool largest, bool sorted, Loc where) const {
  return sinter::topk(Arg(self(), where), k, axis, largest, sorted);
}
Ranked TensorMethods::kthvalue(int64_t k, int64_t axis, bool keepdim, Loc where) const {
  return sinter::kthvalue(Arg(self(), where), k, axis, keepdim);
}
Tensor TensorMethods::median(Loc where) const { return sinter::median(Arg(self(), where)); }
Ranked TensorMethods::median(int64_t axis, bool keepdim, Loc where) const {
  return sinter::median(Arg(self(), where), axis, keepdim);
}
Tensor TensorMethods::quantile(Arg q, std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return sinter::quantile(Arg(self(), where), q, axis, keepdim);
}
Tensor TensorMethods::quantile(Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation,
                               Loc where) const {
  return sinter::quantile(Arg(self(), where), q, axis, keepdim, interpolation);
}
Tensor TensorMethods::nanquantile(Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation,
                                  Loc where) const {
  return sinter::nanquantile(Arg(self(), where), q, axis, keepdim, interpolation);
}
Tensor TensorMethods::nanquantile(Arg q, std::optional<int64_t> axis, bool keepdim, Loc where) const {
  return sinter::nanquantile(Arg(self(), where), q, axis, keepdim);
}
Tensor TensorMethods::nanmedian(Loc where) const { return sinter::nanmedian(Arg(self(), where)); }
Ranked TensorMethods::nanmedian(int64_t axis, bool keepdim, Loc where) const {
  return sinter::nanmedian(Arg(self(), where), axis, keepdim);
}
Ranked TensorMethods::mode(int64_t axis, bool keepdim, Loc where) const {
  return sinter::mode(Arg(self(), where), axis, keepdim);
}
Tensor TensorMethods::msort(Loc where) const { return sinter::msort(Arg(self(), where)); }
Distinct TensorMethods::unique(Loc where) const { return sinter::unique(Arg(self(), where)); }
Distinct TensorMethods::unique_consecutive(Loc where) const { return sinter::unique_consecutive(Arg(self(), where)); }
Tensor TensorMethods::isin(Arg among, bool assume_unique, bool invert, Loc where) const {
  return sinter::isin(Arg(self(), where), among, assume_unique, invert);
}
Tensor TensorMethods::bincount(int64_t least, Loc where) const { return sinter::bincount(self(), least, where); }
Tensor TensorMethods::bincount(const Tensor& weights, int64_t least, Loc where) const {
  return sinter::bincount(self(), weights, least, where);
}
Tensor TensorMethods::histc(int64_t bins, double low, double high, Loc where) const {
  return sinter::histc(Arg(self(), where), bins, low, high);
}
Histogram TensorMethods::histogram(int64_t bins, std::optional<std::pair<double, double>> range, Loc where) const {
  return sinter::histogram(Arg(self(), where), bins, range);
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
Tensor TensorMethods::scatter_reduce(int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
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
Tensor TensorMethods::index_reduce(int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                                   bool include_self, Loc where) const {
  return sinter::index_reduce(Arg(self(), where), axis, index, source, reduce, include_self);
}
Tensor TensorMethods::put(const Tensor& index, Arg source, bool accumulate, Loc where) const {
  return sinter::put(Arg(self(), where), index, source, accumulate);
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
Tensor TensorMethods::nonzero(Loc where) const { return sinter::nonzero(Arg(self(), where)); }
Tensor TensorMethods::argwhere(Loc where) const { return sinter::argwhere(Arg(self(), where)); }
Tensor TensorMethods::multinomial(int64_t count, bool replacement, Loc where) const {
  return sinter::multinomial(self(), count, replacement, {}, where);
}
Tensor TensorMethods::multinomial(int64_t count, bool replacement, const RandomOptions& options, Loc where) const {
  return sinter::multinomial(self(), count, replacement, options, where);
}
Tensor TensorMethods::bernoulli(Loc where) const { return sinter::bernoulli(self(), {}, where); }
Tensor TensorMethods::bernoulli(const RandomOptions& options, Loc where) const {
  return sinter::bernoulli(self(), options, where);
}

Tensor TensorMethods::type_as(const Tensor& like, Loc where) const {
  const CallScope call("type_as", where);
  return self().to(like, where);
}
Tensor TensorMethods::bfloat16(Loc where) const {
  const CallScope call("bfloat16", where);
  return self().to(sinter::bfloat16, where);
}
bool TensorMethods::is_floating_point(Loc where) const {
  const CallScope call("is_floating_point", where);
  return is_float(self().dtype(where));
}
Tensor TensorMethods::half(Loc where) const {
  const CallScope call("half", where);
  return self().to(float16, where);
}
Tensor TensorMethods::new_zeros(const Shape& shape, DType dtype, Loc where) const {
  const CallScope call("new_zeros", where);
  return zeros(shape, dtype == DType::Void ? self().dtype(where) : dtype, self().device(where), where);
}
Tensor TensorMethods::new_ones(const Shape& shape, DType dtype, Loc where) const {
  const CallScope call("new_ones", where);
  return ones(shape, dtype == DType::Void ? self().dtype(where) : dtype, self().device(where), where);
}
Tensor TensorMethods::new_empty(const Shape& shape, DType dtype, Loc where) const {
  const CallScope call("new_empty", where);
  return empty(shape, dtype == DType::Void ? self().dtype(where) : dtype, self().device(where), where);
}
Tensor TensorMethods::new_full(const Shape& shape, Arg value, DType dtype) const {
  const CallScope call("new_full", value);
  return full(shape, value, dtype == DType::Void ? self().dtype(value.where()) : dtype, self().device(value.where()));
}

}  // namespace sinter::inline v0
