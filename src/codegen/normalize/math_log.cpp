// log, log1p, log2, log10 and the inverse hyperbolic functions: split off the power of two, then a polynomial (float32)
// or fdlibm's series in f / (2 + f) (float64).
#include <numbers>

#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"

namespace sinter::codegen {
namespace {

constexpr double kTwoThirds = 0x1.555556p-1;

// (log(1+r) - r + r^2/2) / r^3 on |r| <= 1/3: relative error 2^-27.7 of log(1+r).
constexpr double kLog[] = {0x1.555506p-2, -0x1.fffefap-3, 0x1.99d054p-3, -0x1.559c54p-3,
                           0x1.1ed508p-3, -0x1.f335dp-4,  0x1.1e6eb6p-3, -0x1.07bc3cp-3};
// (log2(1+r) - r log2(e)) / r^2 on |r| <= 1/3: relative error 2^-27.7 of log2(1+r).
constexpr double kLog2[] = {-0x1.715476p-1, 0x1.ec703p-2,   -0x1.7153ep-2, 0x1.279d7p-2,  -0x1.ecd0b6p-3,
                            0x1.9de5bap-3,  -0x1.685292p-3, 0x1.9cddeep-3, -0x1.7bcb66p-3};
// (log((1+s)/(1-s)) / s - 2) / s^2 in s^2, |s| <= 3 - 2 sqrt 2: error 2^-59.5 of log((1+s)/(1-s)).
constexpr double kAtanh[] = {0x1.5555555555592p-1, 0x1.999999997ff37p-2, 0x1.24924941df378p-2, 0x1.c71c52160267dp-3,
                             0x1.74663c9ff8357p-3, 0x1.39a1eeebfd808p-3, 0x1.2f038fe8bd39cp-3};

/// Handles the special values: -inf at +-0, NaN for negative x, infinity and NaN unchanged.
UOp with_specials(UOp x, UOp result) {
  UOp zero = like(x, 0);
  result = where(lt(x, like(x, kInf)), result, x);
  result = where(lt(x, zero), like(x, kNaN), result);
  return where(eq(x, zero), like(x, -kInf), result);
}

/// log(1 + f) = f - half_square + rest, as in fdlibm's e_log.c: half_square = f^2 / 2, rest = s (half_square + R(s^2)),
/// s = f / (2 + f).
struct Series {
  UOp f, half_square, s, r;
};
Series series(UOp mantissa) {
  UOp f = mantissa - 1.0;
  UOp s = f / (f + 2.0), z = s * s;
  return {f, f * 0.5 * f, s, z * polynomial(z, kAtanh)};
}

/// log(1 + u), accurate near 0.
UOp log1p_pair(FloatPair u) {
  FloatPair w = two_sum(like(u.hi, 1), u.hi);
  UOp rest = where(lt(w.hi, like(w.hi, kInf)), (w.lo + u.lo) / w.hi, like(w.hi, 0));
  return where(lt(absolute(u.hi), like(w.hi, 0x1p-56)), u.hi, expand_log(w.hi) + rest);
}
/// The same, but log(2 size) of a large size, whose square may overflow.
UOp log1p_or_twice(FloatPair u, UOp size) {
  UOp large = lt(like(size, 0x1p60), size), zero = like(size, 0);
  UOp log = log1p_pair({where(large, size, u.hi), where(large, zero, u.lo)});
  return log + where(large, like(size, std::numbers::ln2), zero);
}

/// A function of float64, of float32 as well.
UOp in_double(UOp (*f)(UOp), UOp x) { return cast(f(cast(x, DType::F64)), DType::F32); }

}  // namespace

UOp expand_log(UOp x) {
  if (x->dtype == DType::F32) {
    auto [m, k] = split_exponent(x, kTwoThirds);
    UOp r = m - 1.0;
    UOp log_m = fma(r * r, fma(r, polynomial(r, kLog), like(x, -0.5)), r);
    return with_specials(x, fma(k, like(x, kLn2Single[0]), fma(k, like(x, kLn2Single[1]), log_m)));
  }
  auto [m, k] = split_exponent(x, kSqrtHalf);
  auto [f, half_square, s, r] = series(m);
  UOp rest = fma(s, half_square + r, k * kLn2Double[1]);
  return with_specials(x, fma(k, like(x, kLn2Double[0]), f - (half_square - rest)));
}

UOp expand_log1p(UOp x) {
  const FloatPair w = two_sum(like(x, 1), x);
  UOp regular = lt(like(x, 0), w.hi) & lt(w.hi, like(x, kInf));
  UOp rest = where(regular, w.lo / w.hi, like(x, 0));
  UOp small = lt(absolute(x), like(x, x->dtype == DType::F32 ? 0x1p-26 : 0x1p-56));  // includes -0 and denormals
  return where(small, x, expand_log(w.hi) + rest);
}

UOp expand_log2(UOp x) {
  if (x->dtype == DType::F32) {
    auto [m, k] = split_exponent(x, kTwoThirds);
    UOp r = m - 1.0;
    UOp tail = r * fma(r, polynomial(r, kLog2), like(x, kLog2ESingle[1]));
    return with_specials(x, k + fma(r, like(x, kLog2ESingle[0]), tail));
  }
  // log(m) as a pair, times log2(e) as a pair, plus the exponent: only one rounding is significant.
  auto [m, k] = split_exponent(x, kSqrtHalf);
  auto [f, half_square, s, r] = series(m);
  UOp square_error = fma(f * 0.5, f, -half_square);
  UOp hi = f - half_square;
  UOp lo = fma(s, half_square + r, (f - hi) - half_square - square_error);
  UOp product = hi * kLog2EDouble[0];
  UOp product_error =
      fma(hi, like(x, kLog2EDouble[0]), -product) + fma(hi, like(x, kLog2EDouble[1]), lo * kLog2EDouble[0]);
  FloatPair sum = fast_two_sum(k, product);
  return with_specials(x, sum.hi + (sum.lo + product_error));
}

UOp expand_log10(UOp x) {
  constexpr double kLog10E[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  if (x->dtype == DType::F32) return cast(expand_log(cast(x, DType::F64)) * kLog10E[0], DType::F32);
  FloatPair log = log_pair(x);
  FloatPair product = two_product(log.hi, like(x, kLog10E[0]));
  UOp rest = fma(log.hi, like(x, kLog10E[1]), fma(log.lo, like(x, kLog10E[0]), product.lo));
  return with_specials(x, product.hi + rest);
}

UOp expand_asinh(UOp x) {
  if (x->dtype == DType::F32) return in_double(expand_asinh, x);
  // log(|x| + sqrt(x^2 + 1)) = log(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))
  UOp size = absolute(x), rest = size * size / (sqrt(fma(x, x, like(x, 1))) + 1.0);
  return with_sign(log1p_or_twice(fast_two_sum(size, rest), size), x);
}

UOp expand_acosh(UOp x) {
  if (x->dtype == DType::F32) return in_double(expand_acosh, x);
  // log(x + sqrt(x^2 - 1))
  FloatPair above = two_sum(x, like(x, -1));
  FloatPair u = two_sum(above.hi, sqrt(fma(x, x, like(x, -1))));
  UOp result = log1p_or_twice({u.hi, u.lo + above.lo}, x);
  return where(lt(x, like(x, 1)), like(x, kNaN), result);
}

UOp expand_atanh(UOp x) {
  if (x->dtype == DType::F32) return in_double(expand_atanh, x);
  // log((1 + |x|) / (1 - |x|)) / 2 = log(1 + 2 |x| / (1 - |x|)) / 2
  UOp size = absolute(x), twice = size + size;
  FloatPair below = fast_two_sum(like(x, 1), -size);
  UOp quotient = twice / below.hi;
  UOp rest = fma(-quotient, below.lo, fma(-quotient, below.hi, twice)) / below.hi;
  return with_sign(log1p_pair({quotient, rest}) * 0.5, x);
}

}  // namespace sinter::codegen
