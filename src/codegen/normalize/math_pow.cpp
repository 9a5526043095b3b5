// pow as exp(y log x) with enough extra bits, and the floating-point remainder.
#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"

namespace sinter::codegen {
namespace {

UOp round(UOp x) { return alu(Op::Round, {x}); }

/// Where y * log|x| is 0 by definition: pow(x, 0) = 1 even for NaN, and pow(1, y) = 1 even for NaN and infinity.
UOp exponent_of_zero(UOp y, UOp log) { return eq(log, like(log, 0)) | eq(y, like(y, 0)); }

/// `log` with the special values: -inf at 0, and |x| itself if that is infinity or NaN.
UOp log_with_specials(UOp size, UOp log) {
  log = where(lt(size, like(size, kInf)), log, size);
  return where(eq(size, like(size, 0)), like(size, -kInf), log);
}

/// |x|^y with the sign of x for odd y; NaN for finite negative x and non-integer y (C99 F.9.4.4).
UOp with_sign_of_power(UOp x, UOp y, UOp power) {
  UOp half = y * 0.5;
  UOp odd = eq(round(y), y) & ne(round(half), half);  // large y are even
  power = where(odd, with_sign(power, x), power);
  UOp undefined = lt(x, like(x, 0)) & lt(like(x, -kInf), x) & ne(round(y), y);
  return where(undefined, like(x, kNaN), power);
}

/// Computed in float64: y log2(x) needs 8 bits for the result's exponent in addition to the 24 of its mantissa.
UOp pow_single(UOp x, UOp y) {
  // log2((1+s)/(1-s)) / s in s^2, relative error 2^-52; (2^r - 1) / r, error 2^-34 of 2^r.
  constexpr double kLog[] = {0x1.71547652b82ffp+1, 0x1.ec709dc39cd06p-1, 0x1.2776c51674bd1p-1, 0x1.a61756a650be8p-2,
                             0x1.484fa1d5721a6p-2, 0x1.0bb8d18d2e0bdp-2, 0x1.f16e99b6db5b7p-3};
  constexpr double kExp2[] = {0x1.62e42ff0e95d7p-1,  0x1.ebfbe079d213fp-3,  0x1.c6b08ab3e06dcp-5, 0x1.3b29f14604a53p-7,
                              0x1.5d8a8dda5a96ep-10, 0x1.445e8bd4cd890p-13, 0x1.fde30373d084ep-17};
  UOp size = cast(absolute(x), DType::F64), wide_y = cast(y, DType::F64);
  auto [m, k] = split_exponent(size, kSqrtHalf);
  UOp s = (m - 1.0) / (m + 1.0);
  UOp log = log_with_specials(size, fma(s, polynomial(s * s, kLog), k));
  UOp t = where(exponent_of_zero(wide_y, log), like(log, 0), wide_y * log);
  t = clamp(t, -160, 130);  // beyond that float32 rounds to 0 or infinity
  RoundedProduct n = round_scaled(t, 1, format_of(DType::F64).bias);
  UOp r = t - n.value;
  UOp power = fma(r, polynomial(r, kExp2), like(r, 1)) * power_of_two(n);
  return with_sign_of_power(x, y, cast(power, DType::F32));
}

}  // namespace

FloatPair log_pair(UOp size) {
  // ((log((1+s)/(1-s)) / s - 2) / s^2 - 2/3) / s^2 in s^2: error 2^-77 of the logarithm.
  constexpr double kTail[] = {0x1.999999999999ap-2, 0x1.2492492492363p-2, 0x1.c71c71c747ea6p-3,
                              0x1.745d172bc8642p-3, 0x1.3b13ba5ab47e9p-3, 0x1.110f1c2ec299cp-3,
                              0x1.e26581322834bp-4, 0x1.a508b69ad5e5ap-4, 0x1.eca3884569145p-4};
  constexpr double kTwoThirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};
  // The first part times an exponent is exact.
  constexpr double kLn2Short[] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};
  auto [m, k] = split_exponent(size, kSqrtHalf);
  // s = (m - 1) / (m + 1)
  UOp above = m - 1.0, below = m + 1.0;
  UOp below_error = m - (below - 1.0);
  UOp s = above / below;
  UOp remainder = fma(-s, below_error, fma(-s, below, above));
  UOp s_error = remainder * fma(s, like(s, -0.5), like(s, 0.5));  // 1 / (m + 1) = (1 - s) / 2
  // s^3 (2/3 + s^2 tail)
  FloatPair square = two_product(s, s);
  square.lo = fma(s + s, s_error, square.lo);
  FloatPair cube = two_product(square.hi, s);
  cube.lo = cube.lo + fma(square.hi, s_error, square.lo * s);
  FloatPair factor = fast_two_sum(like(s, kTwoThirds[0]), square.hi * polynomial(square.hi, kTail));
  factor.lo = factor.lo + kTwoThirds[1];
  FloatPair term = two_product(cube.hi, factor.hi);
  term.lo = term.lo + fma(cube.hi, factor.lo, cube.lo * factor.hi);
  // k ln2 + 2 s + term
  FloatPair series = fast_two_sum(s + s, term.hi);
  series.lo = series.lo + fma(s_error, like(s, 2), term.lo);
  FloatPair sum = fast_two_sum(k * kLn2Short[0], series.hi);
  return fast_two_sum(sum.hi, sum.lo + fma(k, like(k, kLn2Short[1]), series.lo));
}

namespace {

UOp pow_double(UOp x, UOp y) {
  constexpr double kExp[] = {0x1.0000000000000p-1,  0x1.555555555555cp-3,  0x1.5555555555500p-5,  0x1.111111110eb83p-7,
                             0x1.6c16c16c30e26p-10, 0x1.a01a01b3d4b68p-13, 0x1.a01a0134b3ebep-16, 0x1.71ddef4497915p-19,
                             0x1.27e5b6713f1bcp-22, 0x1.af6d6e31f7788p-26, 0x1.1e3c2199fa48cp-29};  // error 2^-59
  UOp size = absolute(x);
  FloatPair log = log_pair(size);
  log.hi = log_with_specials(size, log.hi);
  // y log as a pair. The low part is meaningless where the product is 0, infinite or NaN.
  UOp zero = like(x, 0);
  UOp t = where(exponent_of_zero(y, log.hi), zero, y * log.hi);
  UOp counts = lt(absolute(t), like(t, 800)) & ne(t, zero);
  UOp t_low = where(counts, fma(y, log.hi, -t) + y * log.lo, zero);
  t = clamp(t, -746, 710);
  // e^t
  RoundedProduct n = round_scaled(t, kLog2EDouble[0]);
  FloatPair r = fast_two_sum(fma(n.value, like(t, -kLn2Double[0]), t), fma(n.value, like(t, -kLn2Double[1]), t_low));
  UOp rest = fma(r.hi * r.hi, polynomial(r.hi, kExp), fma(r.lo, r.hi, r.lo));
  UOp power = ldexp((r.hi + rest) + 1.0, n.value);
  return with_sign_of_power(x, y, power);
}

}  // namespace

UOp expand_pow(UOp x, UOp y) { return x->dtype == DType::F32 ? pow_single(x, y) : pow_double(x, y); }

UOp expand_fmod(UOp x, UOp y) {
  // C's fmod of the magnitudes. The remainder of a rounded quotient is representable, so each step is exact. The first
  // step leaves the quotient's low bits and the second finds them. One correction remains where a quotient was rounded
  // up to an integer. Beyond the limit the quotient has more bits; beside a small divisor a remainder may be denormal,
  // which may count as 0. Few arguments are either: -1 leaves them to FarRemainder.
  const bool single = x->dtype == DType::F32;
  const double limit = single ? 0x1p46 : 0x1p104, smallest = single ? 0x1p-102 : 0x1p-969;
  UOp zero = like(x, 0), inf = like(x, kInf);
  UOp a = absolute(x), b = absolute(y);
  UOp quotient = a / b;
  UOp rest = fma(-alu(Op::Trunc, {quotient}), b, a);
  rest = fma(-alu(Op::Floor, {rest / b}), b, rest);
  rest = where(lt(rest, zero), rest + b, rest);
  rest = where(le(b, rest), rest - b, rest);
  UOp far = where(lt(zero, b) & lt(a, inf), like(x, -1), like(x, kNaN));
  rest = where(le(like(x, limit), quotient) | lt(b, like(x, smallest)), far, rest);
  rest = alu(Op::FarRemainder, {where(lt(a, inf) & eq(b, inf), a, rest), a, b});
  // Python's and NumPy's remainder has the divisor's sign.
  UOp signed_rest = with_sign(rest, x);
  UOp other_side = ne(lt(signed_rest, zero), lt(y, zero));
  UOp result = where(other_side, signed_rest + y, signed_rest);
  return where(eq(rest, zero), with_sign(zero, y), result);
}

}  // namespace sinter::codegen
