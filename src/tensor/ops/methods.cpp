// Each method calls the function of its name. Those that write are in in_place.cpp.
#include "sinter/tensor_methods.h"

#include "sinter/create.h"
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

// Those of other signatures: what they return, their name, their parameters but the place, and the function's
// arguments. The place is that of the first argument, or an argument of its own.
#define SINTER_PARAMETERS(...) __VA_ARGS__
#define SINTER_METHOD(result, f, parameters, ...)                          \
  result TensorMethods::f(SINTER_PARAMETERS parameters, Loc where) const { \
    return sinter::f(Arg(self(), where), __VA_ARGS__);                     \
  }
#define SINTER_PLACED(result, f, parameters, ...)                          \
  result TensorMethods::f(SINTER_PARAMETERS parameters, Loc where) const { \
    return sinter::f(self(), __VA_ARGS__, where);                          \
  }

SINTER_METHOD(Tensor, nan_to_num, (double nan, std::optional<double> posinf, std::optional<double> neginf), nan, posinf,
              neginf)
SINTER_METHOD(Tensor, hardshrink, (double lambda), lambda)
SINTER_METHOD(Tensor, prelu, (const Tensor& weight), weight)
SINTER_METHOD(Tensor, logit, (std::optional<double> eps), eps)
SINTER_METHOD(Tensor, add, (Arg other, Arg alpha), other, alpha)
SINTER_METHOD(Tensor, sub, (Arg other, Arg alpha), other, alpha)
SINTER_METHOD(Tensor, div, (Arg other, Choice<RoundingMode> rounding_mode), other, rounding_mode)
SINTER_METHOD(Tensor, clamp, (Arg lo, Arg hi), lo, hi)
SINTER_METHOD(Tensor, clamp, (Arg lo), lo)
SINTER_METHOD(Tensor, clamp, (Arg lo, std::nullopt_t), lo)
SINTER_METHOD(Tensor, clamp, (std::nullopt_t none, Arg hi), none, hi)
SINTER_METHOD(Tensor, lerp, (Arg end, Arg weight), end, weight)
SINTER_METHOD(Tensor, addcmul, (Arg a, Arg b), a, b)
SINTER_METHOD(Tensor, addcmul, (Arg a, Arg b, Arg value), a, b, value)
SINTER_METHOD(Tensor, addcdiv, (Arg a, Arg b), a, b)
SINTER_METHOD(Tensor, addcdiv, (Arg a, Arg b, Arg value), a, b, value)
Tensor TensorMethods::where(Arg condition, Arg other, Loc at) const {
  return sinter::where(condition, Arg(self(), at), other);
}
SINTER_METHOD(Tensor, masked_fill, (Arg mask, Arg value), mask, value)
SINTER_METHOD(Tensor, isclose, (Arg other, double rtol, double atol, bool equal_nan), other, rtol, atol, equal_nan)
SINTER_METHOD(bool, allclose, (Arg other, double rtol, double atol, bool equal_nan), other, rtol, atol, equal_nan)
SINTER_METHOD(bool, equal, (Arg other), other)

Tensor TensorMethods::view(Shape shape, Loc where) const { return self().reshape(std::move(shape), where); }
SINTER_PLACED(Tensor, view_as, (const Tensor& like), like)
SINTER_PLACED(Tensor, reshape_as, (const Tensor& like), like)
SINTER_PLACED(Tensor, expand_as, (const Tensor& like), like)
SINTER_PLACED(Tensor, unflatten, (int64_t axis, const Shape& sizes), axis, sizes)
Tensor TensorMethods::t(Loc where) const { return sinter::t(self(), where); }
Tensor TensorMethods::ravel(Loc where) const { return sinter::ravel(self(), where); }
Tensor TensorMethods::fliplr(Loc where) const { return sinter::fliplr(self(), where); }
Tensor TensorMethods::flipud(Loc where) const { return sinter::flipud(self(), where); }
SINTER_PLACED(Tensor, swapaxes, (int64_t a, int64_t b), a, b)
SINTER_PLACED(Tensor, broadcast_to, (const Shape& shape), shape)
SINTER_PLACED(Tensor, narrow, (int64_t axis, int64_t start, const Dim& length), axis, start, length)
SINTER_PLACED(Tensor, narrow, (int64_t axis, const Tensor& start, const Dim& length), axis, start, length)
SINTER_PLACED(Tensor, select, (int64_t axis, int64_t index), axis, index)
SINTER_PLACED(std::vector<Tensor>, unbind, (int64_t axis), axis)
SINTER_PLACED(std::vector<Tensor>, tensor_split, (const std::vector<int64_t>& indices, int64_t axis), indices, axis)
SINTER_PLACED(std::vector<Tensor>, hsplit, (const std::vector<int64_t>& indices), indices)
std::vector<Tensor> TensorMethods::hsplit_evenly(int64_t sections, Loc where) const {
  return sinter::hsplit(self(), sections, where);
}
SINTER_PLACED(std::vector<Tensor>, vsplit, (const std::vector<int64_t>& indices), indices)
std::vector<Tensor> TensorMethods::vsplit_evenly(int64_t sections, Loc where) const {
  return sinter::vsplit(self(), sections, where);
}
std::vector<Tensor> TensorMethods::split_evenly(int64_t sections, int64_t axis, Loc where) const {
  return sinter::tensor_split(self(), sections, axis, where);
}
SINTER_PLACED(Tensor, roll, (int64_t shift, std::optional<int64_t> axis), shift, axis)
SINTER_PLACED(Tensor, roll, (const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes), shifts, axes)
SINTER_PLACED(Tensor, rot90, (int64_t times, const std::vector<int64_t>& axes), times, axes)
SINTER_PLACED(Tensor, repeat, (const std::vector<int64_t>& counts), counts)
SINTER_PLACED(Tensor, tile, (const std::vector<int64_t>& counts), counts)
SINTER_PLACED(Tensor, repeat_interleave, (int64_t count, std::optional<int64_t> axis), count, axis)
SINTER_PLACED(Tensor, repeat_interleave,
              (const Tensor& repeats, std::optional<int64_t> axis, std::optional<int64_t> output_size), repeats, axis,
              output_size)
SINTER_PLACED(Tensor, diagonal, (int64_t offset, int64_t a, int64_t b), offset, a, b)
SINTER_PLACED(Tensor, diag_embed, (int64_t offset, int64_t a, int64_t b), offset, a, b)
SINTER_PLACED(Tensor, diag, (int64_t offset), offset)
Tensor TensorMethods::trace(Loc where) const { return sinter::trace(self(), where); }
SINTER_PLACED(Tensor, triu, (int64_t offset), offset)
SINTER_PLACED(Tensor, tril, (int64_t offset), offset)
SINTER_PLACED(Tensor, diff, (int64_t n, int64_t axis), n, axis, {}, {})

SINTER_METHOD(Tensor, cross, (Arg other, int64_t axis), other, axis)
SINTER_METHOD(Tensor, matrix_power, (int64_t n), n)
SINTER_METHOD(Tensor, addmm, (Arg a, Arg b, Arg beta, Arg alpha), a, b, beta, alpha)
SINTER_METHOD(Tensor, baddbmm, (Arg a, Arg b, Arg beta, Arg alpha), a, b, beta, alpha)
SINTER_METHOD(Tensor, addmv, (Arg a, Arg b, Arg beta, Arg alpha), a, b, beta, alpha)
SINTER_METHOD(Tensor, norm, (double p, Axes axes, bool keepdim), p, std::move(axes), keepdim)

SINTER_METHOD(Tensor, cholesky, (bool upper), upper)
LU TensorMethods::lu(Loc where) const { return sinter::lu(Arg(self(), where)); }
SINTER_METHOD(Tensor, pinverse, (std::optional<double> cutoff), cutoff)
SINTER_METHOD(Tensor, cholesky_solve, (Arg l, bool upper), l, upper)
SlogDet TensorMethods::slogdet(Loc where) const { return sinter::slogdet(Arg(self(), where)); }
SINTER_METHOD(QR, qr, (std::string_view mode), mode)
SINTER_METHOD(SVD, svd, (bool full_matrices), full_matrices)

std::pair<Tensor, Tensor> TensorMethods::aminmax(Axes axes, bool keepdim, Loc where) const {
  return sinter::aminmax(self(), std::move(axes), keepdim, where);
}
SINTER_METHOD(Tensor, logsumexp, (Axes axes, bool keepdim), std::move(axes), keepdim)
SINTER_METHOD(Ranked, cummax, (int64_t axis), axis)
SINTER_METHOD(Ranked, cummin, (int64_t axis), axis)
SINTER_METHOD(Ranked, sort, (int64_t axis, bool descending, bool stable), axis, descending, stable)
SINTER_METHOD(Tensor, argsort, (int64_t axis, bool descending, bool stable), axis, descending, stable)
SINTER_METHOD(Ranked, topk, (int64_t k, int64_t axis, bool largest, bool sorted), k, axis, largest, sorted)
SINTER_METHOD(Ranked, kthvalue, (int64_t k, int64_t axis, bool keepdim), k, axis, keepdim)
SINTER_METHOD(Ranked, median, (int64_t axis, bool keepdim), axis, keepdim)
SINTER_METHOD(Tensor, quantile, (Arg q, std::optional<int64_t> axis, bool keepdim), q, axis, keepdim)
SINTER_METHOD(Tensor, quantile, (Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation),
              q, axis, keepdim, interpolation)
SINTER_METHOD(Tensor, nanquantile,
              (Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation), q, axis, keepdim,
              interpolation)
SINTER_METHOD(Tensor, nanquantile, (Arg q, std::optional<int64_t> axis, bool keepdim), q, axis, keepdim)
SINTER_METHOD(Ranked, nanmedian, (int64_t axis, bool keepdim), axis, keepdim)
SINTER_METHOD(Ranked, mode, (int64_t axis, bool keepdim), axis, keepdim)
Distinct TensorMethods::unique(Loc where) const { return sinter::unique(Arg(self(), where)); }
Distinct TensorMethods::unique_consecutive(Loc where) const { return sinter::unique_consecutive(Arg(self(), where)); }
SINTER_METHOD(Tensor, isin, (Arg among, bool assume_unique, bool invert), among, assume_unique, invert)
SINTER_PLACED(Tensor, bincount, (int64_t least), least)
SINTER_PLACED(Tensor, bincount, (const Tensor& weights, int64_t least), weights, least)
SINTER_METHOD(Tensor, histc, (int64_t bins, double low, double high), bins, low, high)
SINTER_METHOD(Histogram, histogram, (int64_t bins, std::optional<std::pair<double, double>> range), bins, range)

SINTER_METHOD(Tensor, gather, (int64_t axis, const Tensor& index), axis, index)
SINTER_METHOD(Tensor, take_along_dim, (const Tensor& index, int64_t axis), index, axis)
SINTER_METHOD(Tensor, index_select, (int64_t axis, const Tensor& index), axis, index)
SINTER_METHOD(Tensor, take, (const Tensor& index), index)
SINTER_METHOD(Tensor, scatter, (int64_t axis, const Tensor& index, Arg value), axis, index, value)
SINTER_METHOD(Tensor, scatter_add, (int64_t axis, const Tensor& index, Arg value), axis, index, value)
SINTER_METHOD(Tensor, scatter_reduce,
              (int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce, bool include_self), axis,
              index, value, reduce, include_self)
SINTER_METHOD(Tensor, index_add, (int64_t axis, const Tensor& index, Arg source), axis, index, source)
SINTER_METHOD(Tensor, index_add, (int64_t axis, const Tensor& index, Arg source, Arg alpha), axis, index, source, alpha)
SINTER_METHOD(Tensor, index_copy, (int64_t axis, const Tensor& index, Arg source), axis, index, source)
SINTER_METHOD(Tensor, index_fill, (int64_t axis, const Tensor& index, Arg value), axis, index, value)
SINTER_METHOD(Tensor, index_reduce,
              (int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce, bool include_self), axis,
              index, source, reduce, include_self)
SINTER_METHOD(Tensor, put, (const Tensor& index, Arg source, bool accumulate), index, source, accumulate)
SINTER_METHOD(Tensor, index_put, (const std::vector<Tensor>& indices, Arg value, bool accumulate), indices, value,
              accumulate)
SINTER_METHOD(Tensor, masked_select, (const Tensor& mask), mask)
SINTER_METHOD(Tensor, masked_scatter, (const Tensor& mask, Arg source), mask, source)
SINTER_PLACED(Tensor, multinomial, (int64_t count, bool replacement), count, replacement, {})
SINTER_PLACED(Tensor, multinomial, (int64_t count, bool replacement, const RandomOptions& options), count, replacement,
              options)
Tensor TensorMethods::bernoulli(Loc where) const { return sinter::bernoulli(self(), {}, where); }
SINTER_PLACED(Tensor, bernoulli, (const RandomOptions& options), options)

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

#undef SINTER_PARAMETERS
#undef SINTER_METHOD
#undef SINTER_PLACED

}  // namespace sinter::inline v0
