// Shared pieces of the math expansions; see the header for contracts.
#include "codegen/normalize/math_support.h"

#include <fmt/core.h>

#include <bit>
#include <cfloat>

#include "sinter/error.h"

namespace sinter::codegen {

const FloatFormat& format_of(DType dtype) {
  static constexpr FloatFormat kSingle = {DType::U32, 23, 127, 0x80000000u, FLT_MIN};
  static constexpr FloatFormat kDouble = {DType::U64, 52, 1023, 0x8000000000000000u, DBL_MIN};
  if (dtype == DType::F32) return kSingle;
  if (dtype == DType::F64) return kDouble;
  throw InternalError(fmt::format("expanding math: no expansion for {}", name_of(dtype)));
}

UOp word(UOp x, uint64_t value) { return like(x, ir::Scalar::of(x->dtype, static_cast<int64_t>(value))); }
UOp bits_of(UOp x) { return bitcast(x, format_of(x->dtype).bits); }
UOp absolute(UOp x) { return alu(Op::Abs, {x}); }
UOp with_sign(UOp size, UOp sign) {
  UOp u = bits_of(sign);
  return bitcast(bits_of(size) | (u & word(u, format_of(sign->dtype).sign)), size->dtype);
}
UOp shl(UOp x, int by) { return alu(Op::Shl, {x, word(x, static_cast<uint64_t>(by))}); }
UOp shr(UOp x, int by) { return alu(Op::Shr, {x, word(x, static_cast<uint64_t>(by))}); }
UOp at_most(UOp x, double hi) {
  const UOp high = like(x, hi);
  return where(lt(high, x), high, x);
}
UOp at_least(UOp x, double lo) {
  const UOp low = like(x, lo);
  return where(lt(x, low), low, x);
}
/// A min and a max instruction on most machines.
UOp clamp(UOp x, double lo, double hi) { return at_least(at_most(x, hi), lo); }
UOp polynomial(UOp x, std::span<const double> coefficients) {
  UOp sum = like(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, like(x, coefficients[i]));
  return sum;
}

RoundedProduct round_scaled(UOp x, double scale, int offset) {
  // The floats of the binade of 1.5 * 2^mantissa are exactly its integers. The addition therefore rounds to an integer,
  // which ends up in the low bits.
  double magic = static_cast<double>(int64_t{3} << (format_of(x->dtype).mantissa - 1)) + offset;
  UOp shifted = fma(x, like(x, scale), like(x, magic));
  return {shifted - magic, bits_of(shifted)};
}
UOp power_of_two(const RoundedProduct& n) {
  return bitcast(shl(n.word, format_of(n.value->dtype).mantissa), n.value->dtype);
}

FloatParts split_exponent(UOp x, double lowest) {
  const FloatFormat& f = format_of(x->dtype);
  const uint64_t low_bits =
      x->dtype == DType::F32 ? std::bit_cast<uint32_t>(static_cast<float>(lowest)) : std::bit_cast<uint64_t>(lowest);
  const uint64_t one_bits = static_cast<uint64_t>(f.bias) << f.mantissa;
  // 2^mantissa: its float's low bits can hold any word below it.
  const double two_mantissa = static_cast<double>(int64_t{1} << f.mantissa);

  UOp denormal = lt(x, like(x, f.min_normal));
  UOp u = bits_of(where(denormal, x * two_mantissa, x));
  UOp shifted = u + word(u, one_bits - low_bits);  // the exponent field increments where the mantissa reaches `lowest`
  UOp m = (shifted & word(u, (uint64_t{1} << f.mantissa) - 1)) + word(u, low_bits);
  UOp biased =
      bitcast(shr(shifted, f.mantissa) | word(u, static_cast<uint64_t>(f.bias + f.mantissa) << f.mantissa), x->dtype);
  UOp exponent = biased - where(denormal, like(x, two_mantissa + f.bias + f.mantissa), like(x, two_mantissa + f.bias));
  return {bitcast(m, x->dtype), exponent};
}

FloatPair two_sum(UOp a, UOp b) {
  UOp sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
FloatPair fast_two_sum(UOp a, UOp b) {
  UOp sum = a + b;
  return {sum, b - (sum - a)};
}
FloatPair two_product(UOp a, UOp b) {
  UOp product = a * b;
  return {product, fma(a, b, -product)};
}

}  // namespace sinter::codegen
