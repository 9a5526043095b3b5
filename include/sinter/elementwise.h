// Functions of elements. All are lazy and pure, with NumPy broadcasting and the promotion table of docs/dtypes.md.
// Operators are in tensor.h, activations of networks in activations.h.
#pragma once

#include <optional>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup unary Functions of one tensor
/// Elementwise, in any shape. Errors are below 2.5 units in the last place; the error of each function is given in
/// src/codegen/normalize/math_ops.h.
/// @snippet elementwise.cpp functions
/// @{

/// @name In floats
/// Floats keep their type; integers and bools are computed in float32. Results that are not real are NaN.
/// @{
Tensor exp(Arg x);         ///< e^x
Tensor exp2(Arg x);        ///< 2^x
Tensor expm1(Arg x);       ///< exp(x) - 1, accurate near 0
Tensor log(Arg x);         ///< natural logarithm; -inf at 0
Tensor log2(Arg x);        ///< logarithm to base 2
Tensor log10(Arg x);       ///< logarithm to base 10, exact for its powers
Tensor log1p(Arg x);       ///< log(1 + x), accurate near 0
Tensor sqrt(Arg x);        ///< rounded correctly
Tensor rsqrt(Arg x);       ///< 1 / sqrt(x)
Tensor sin(Arg x);         ///< radians
Tensor cos(Arg x);         ///< radians
Tensor tan(Arg x);         ///< radians
Tensor asin(Arg x);        ///< the angle in [-pi/2, pi/2] with sine x; NaN beyond 1
Tensor acos(Arg x);        ///< the angle in [0, pi] with cosine x; NaN beyond 1
Tensor atan(Arg x);        ///< the angle in [-pi/2, pi/2] with tangent x
Tensor sinh(Arg x);        ///< hyperbolic sine
Tensor cosh(Arg x);        ///< hyperbolic cosine
Tensor tanh(Arg x);        ///< hyperbolic tangent
Tensor asinh(Arg x);       ///< inverse of sinh
Tensor acosh(Arg x);       ///< inverse of cosh, not negative; NaN below 1
Tensor atanh(Arg x);       ///< inverse of tanh; infinite at 1 and -1, NaN beyond
Tensor erf(Arg x);         ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Tensor erfc(Arg x);        ///< 1 - erf(x) without cancellation
Tensor erfinv(Arg x);      ///< inverse of erf; infinite at 1 and -1, NaN beyond
Tensor reciprocal(Arg x);  ///< 1 / x
Tensor sinc(Arg x);        ///< sin(pi x) / (pi x), 1 at 0; its error is relative to 1 / (pi x)
Tensor deg2rad(Arg x);     ///< degrees to radians
Tensor rad2deg(Arg x);     ///< radians to degrees
/// log(x / (1 - x)), the inverse of sigmoid; x in [0, 1], first clamped to [eps, 1 - eps] if eps is given.
Tensor logit(Arg x, std::optional<double> eps = {});
/// @}

/// @name In the type of x
/// Bools pass through.
/// @{
Tensor abs(Arg x);     ///< absolute value; the smallest signed integer maps to itself
Tensor sign(Arg x);    ///< -1, 0, 1; NaN passes through
Tensor square(Arg x);  ///< x * x
Tensor floor(Arg x);   ///< down to a whole number; integers pass through these four
Tensor ceil(Arg x);    ///< up to a whole number
Tensor round(Arg x);   ///< to the nearest whole number, ties to even
Tensor trunc(Arg x);   ///< toward 0
Tensor frac(Arg x);    ///< x - trunc(x), of floats only
/// NaN becomes `nan`, the infinities become `posinf` and `neginf`: the largest and the lowest finite number of the type
/// if not given. Integers and bools pass through.
Tensor nan_to_num(Arg x, double nan = 0.0, std::optional<double> posinf = {}, std::optional<double> neginf = {});
/// @}
/// @}

/// @defgroup several Functions of several tensors
/// Elementwise, with NumPy broadcasting and the promotion table of docs/dtypes.md.
/// @snippet elementwise.cpp several
/// @{
Tensor maximum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
Tensor minimum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
/// a^b as in C99. Of integers it wraps; a negative power is 1 for 1, 1 or -1 for -1, else 0. A plain number b < 0 is a
/// UsageError with integers a, and so are two bools.
Tensor pow(Arg a, Arg b);
/// a^b in float64.
Tensor float_power(Arg a, Arg b);
/// NumPy's: rounds down; an integer divided by 0 is 0; no gradient.
Tensor floor_divide(Arg a, Arg b);
/// The same as a % b.
Tensor remainder(Arg a, Arg b);
/// C's: a - b * trunc(a / b), with the sign of a. An integer modulo 0 is 0.
Tensor fmod(Arg a, Arg b);
/// x in [lo, hi]; NaN passes through, also a bound's; the gradient at the bounds is 1. lo > hi gives hi.
Tensor clamp(Arg x, Arg lo, Arg hi);
Tensor clamp(Arg x, Arg lo);                  ///< clamp_min()
Tensor clamp(Arg x, Arg lo, std::nullopt_t);  ///< clamp_min()
Tensor clamp(Arg x, std::nullopt_t, Arg hi);  ///< clamp_max()
Tensor clamp_min(Arg x, Arg lo);              ///< clamp() with a lower bound alone
Tensor clamp_max(Arg x, Arg hi);              ///< clamp() with an upper bound alone
/// a where the condition, a bool tensor, is true, b elsewhere. The gradient goes to the selected element.
Tensor where(Arg condition, Arg a, Arg b);
/// `value`, a number or a scalar tensor, where the mask, a bool tensor, is true; x elsewhere. In the type of x.
Tensor masked_fill(Arg x, Arg mask, Arg value);

/// @name In floats, of several
/// Floats keep their common type; integers and bools are computed in float32.
/// @{
Tensor atan2(Arg y, Arg x);         ///< the angle of the point (x, y), in [-pi, pi]; zeros and infinities as in C99
Tensor hypot(Arg a, Arg b);         ///< sqrt(a^2 + b^2), without overflow on the way
Tensor logaddexp(Arg a, Arg b);     ///< log(e^a + e^b), without overflow
Tensor logaddexp2(Arg a, Arg b);    ///< log2(2^a + 2^b), without overflow
Tensor xlogy(Arg x, Arg y);         ///< x log(y), 0 where x is 0 unless y is NaN
Tensor copysign(Arg a, Arg b);      ///< |a| with the sign of b, also of a zero or NaN; the gradient at a = 0 is 0
Tensor ldexp(Arg x, Arg exponent);  ///< x * 2^exponent, rounded as that product is
Tensor lerp(Arg start, Arg end, Arg weight);         ///< start + weight (end - start), exact at the weights 0 and 1
Tensor addcdiv(Arg x, Arg a, Arg b, Arg value = 1);  ///< x + value * a / b
/// @}
/// x + value * a * b, in their common type; no bools.
Tensor addcmul(Arg x, Arg a, Arg b, Arg value = 1);
/// 0 where x is negative or NaN, 1 where it is positive, `values` where it is 0. No gradient to x.
Tensor heaviside(Arg x, Arg values);
/// @}

/// @defgroup named Operators by name
/// The same as the operators of tensor.h, and what those cannot say.
/// @snippet elementwise.cpp named
/// @{

/// How div() rounds the quotient.
enum class RoundingMode : uint8_t {
  None,   ///< not at all; integers are divided in float32
  Trunc,  ///< toward 0, in the type of the operands; an integer divided by 0 is 0
  Floor   ///< as floor_divide()
};
Tensor add(Arg a, Arg b, Arg alpha = 1);  ///< a + alpha * b
Tensor sub(Arg a, Arg b, Arg alpha = 1);  ///< a - alpha * b
Tensor mul(Arg a, Arg b);                 ///< a * b
/// a / b, then rounded; the rounded one has no gradient.
Tensor div(Arg a, Arg b, Choice<RoundingMode> rounding_mode = RoundingMode::None);
Tensor true_divide(Arg a, Arg b);          ///< a / b
Tensor positive(Arg x);                    ///< x; no bools
Tensor negative(Arg x);                    ///< -x; no bools
Tensor eq(Arg a, Arg b);                   ///< a == b
Tensor ne(Arg a, Arg b);                   ///< a != b
Tensor lt(Arg a, Arg b);                   ///< a < b
Tensor le(Arg a, Arg b);                   ///< a <= b
Tensor gt(Arg a, Arg b);                   ///< a > b
Tensor ge(Arg a, Arg b);                   ///< a >= b
Tensor bitwise_and(Arg a, Arg b);          ///< a & b, of integers or bools
Tensor bitwise_or(Arg a, Arg b);           ///< a | b, of integers or bools
Tensor bitwise_xor(Arg a, Arg b);          ///< a ^ b, of integers or bools
Tensor bitwise_not(Arg x);                 ///< ~x, of integers or bools
Tensor bitwise_left_shift(Arg a, Arg b);   ///< a << b, of integers; b modulo the number of bits
Tensor bitwise_right_shift(Arg a, Arg b);  ///< a >> b, of integers; b modulo the number of bits
/// @}

/// @defgroup logic Logic
/// bool tensors of truth values (x != 0); the operators & | ^ ~ work on bits.
/// @snippet elementwise.cpp logic
/// @{
Tensor logical_and(Arg a, Arg b);  ///< both are true
Tensor logical_or(Arg a, Arg b);   ///< at least one is true
Tensor logical_xor(Arg a, Arg b);  ///< exactly one is true
Tensor logical_not(Arg x);         ///< whether x is 0
Tensor isnan(Arg x);               ///< false for integers
Tensor isinf(Arg x);               ///< infinite of either sign
Tensor isfinite(Arg x);            ///< neither infinite nor NaN
Tensor signbit(Arg x);             ///< negative, or a negative zero or NaN
/// |a - b| <= atol + rtol |b|, or equal; with equal_nan, two NaNs are close as well.
Tensor isclose(Arg a, Arg b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether all elements are close, as isclose() says. Computes and waits for the result; inside jit() it is a
/// UsageError, take isclose(a, b).all() there.
bool allclose(Arg a, Arg b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether the shapes are equal and all elements too. Computes and waits for the result; inside jit() it is a
/// UsageError, take eq(a, b).all() there.
bool equal(Arg a, Arg b);
/// @}

}  // namespace sinter::inline v0
