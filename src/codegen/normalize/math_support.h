// Shared parts of the math expansions: bits of floats, polynomials, powers of two, and pairs of floats (double-double
// arithmetic).
#pragma once

#include <limits>
#include <span>

#include "codegen/kernel/ir.h"
#include "ir/build.h"

namespace sinter::codegen {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Constants in two parts. The first part of ln 2 needs no trailing zeros: with an FMA its product with an integer is
// exact.
inline constexpr double kLn2Single[] = {0x1.62e43p-1, -0x1.05c61p-29};
inline constexpr double kLn2Double[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr double kLog2ESingle[] = {0x1.715476p+0, 0x1.4ae0cp-26};
inline constexpr double kLog2EDouble[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
inline constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

/// IEEE binary32 or binary64.
struct FloatFormat {
  DType bits;     ///< the unsigned type of the same width
  int mantissa;   ///< stored bits
  int bias;       ///< of the exponent
  uint64_t sign;  ///< the sign bit
  double min_normal;
};
const FloatFormat& format_of(DType dtype);

/// An integer constant of x's type and shape.
UOp word(UOp x, uint64_t value);
UOp bits_of(UOp x);
UOp absolute(UOp x);
/// The non-negative `size` with the sign bit of `sign`.
UOp with_sign(UOp size, UOp sign);
UOp shl(UOp x, int by);
UOp shr(UOp x, int by);
/// Clamps x from above, from below, or both, by selects. NaN stays NaN.
UOp at_most(UOp x, double hi);
UOp at_least(UOp x, double lo);
UOp clamp(UOp x, double lo, double hi);
/// The polynomial with these coefficients, lowest first, by Horner's rule.
UOp polynomial(UOp x, std::span<const double> coefficients);

/// A product rounded to the nearest integer by adding 1.5 * 2^mantissa: as a float, and in the low bits of a word.
struct RoundedProduct {
  UOp value;  ///< as a float
  UOp word;   ///< bits whose low half is value + offset in two's complement
};
/// round(x * scale); |x * scale| < 2^(mantissa-2). `offset` is added in the word only.
RoundedProduct round_scaled(UOp x, double scale, int offset = 0);
/// 2^n where that is a normal number. `n` must come from round_scaled with offset bias.
UOp power_of_two(const RoundedProduct& n);

/// x = mantissa * 2^exponent with lowest <= mantissa < 2 * lowest, for positive finite x, denormals included. Other x
/// give garbage.
struct FloatParts {
  UOp mantissa, exponent;
};
FloatParts split_exponent(UOp x, double lowest);

/// An unevaluated sum with |lo| <= ulp(hi) / 2.
struct FloatPair {
  UOp hi, lo;
};
FloatPair two_sum(UOp a, UOp b);       ///< exact
FloatPair fast_two_sum(UOp a, UOp b);  ///< exact if |a| >= |b| or a is 0
FloatPair two_product(UOp a, UOp b);   ///< exact unless it underflows

}  // namespace sinter::codegen
