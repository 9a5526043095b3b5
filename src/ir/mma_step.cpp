// Integers only: terms of floats are significands with an exponent.
#include "ir/mma_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace sinter::ir {
namespace {

constexpr int kKeptBits = 25;         ///< of a term below the largest exponent
constexpr int kLeastExponent = -133;  ///< that terms are aligned to
constexpr int kFloatBits = 23;        ///< fraction bits of a float32
constexpr int kFloatLeast = -126;     ///< exponent of its least normal number
constexpr uint32_t kFloatSign = 0x80000000u, kFloatInfinity = 0x7f800000u, kFloatNaN = 0x7fffffffu;

struct Format {
  int exponent_bits, fraction_bits;
  int ignored_bits = 0;  ///< below the fraction
};
constexpr Format kFloat32 = {8, 23};

constexpr Format format_of(MmaOperand type) {
  switch (type) {
    case MmaOperand::BF16: return {8, 7};
    case MmaOperand::F16: return {5, 10};
    case MmaOperand::TF32: return {8, 10, 13};
    case MmaOperand::Byte: break;
  }
  return kFloat32;
}

/// significand * 2^(exponent - fraction bits).
struct Term {
  bool negative = false, infinite = false, nan = false;
  int exponent = 0;
  uint64_t significand = 0;
};

Term decode(uint32_t bits, const Format& format) {
  bits >>= format.ignored_bits;
  const uint32_t last = (1u << format.exponent_bits) - 1;
  const uint32_t fraction = bits & ((1u << format.fraction_bits) - 1), biased = bits >> format.fraction_bits & last;
  const bool negative = bits >> (format.exponent_bits + format.fraction_bits) & 1;
  if (biased == last) return {negative, fraction == 0, fraction != 0, 0, 1};
  const uint32_t hidden = biased ? 1u << format.fraction_bits : 0;
  return {negative, false, false, static_cast<int>(std::max(biased, 1u)) - static_cast<int>(last >> 1),
          fraction | hidden};
}

Term multiply(const Term& x, const Term& y) {
  const bool infinite = x.infinite || y.infinite, invalid = infinite && (x.significand == 0 || y.significand == 0);
  return {x.negative != y.negative, infinite, x.nan || y.nan || invalid, x.exponent + y.exponent,
          x.significand * y.significand};
}

/// value * 2^by, cut toward zero.
uint64_t shift(uint64_t value, int by) {
  if (value == 0 || by <= -64) return 0;
  return by >= 0 ? value << by : value >> -by;
}

/// sum * 2^unit, cut toward zero.
uint32_t to_float32(int64_t sum, int unit) {
  const uint64_t magnitude = sum < 0 ? 0 - static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  if (!magnitude) return 0;
  const int exponent = unit + static_cast<int>(std::bit_width(magnitude)) - 1;
  const bool normal = exponent >= kFloatLeast;
  uint64_t bits = shift(magnitude, unit - (std::max(exponent, kFloatLeast) - kFloatBits));
  if (!bits) return 0;
  if (normal) bits += static_cast<uint64_t>(exponent - kFloatLeast) << kFloatBits;  // the hidden bit adds one more
  return (sum < 0 ? kFloatSign : 0) | static_cast<uint32_t>(std::min<uint64_t>(bits, kFloatInfinity));
}

}  // namespace

uint32_t mma_step(MmaOperand type, std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c) {
  if (type == MmaOperand::Byte) return std::inner_product(a.begin(), a.end(), b.begin(), c);
  const Format format = format_of(type);
  const size_t products = mma_step_length(type);
  std::array<Term, 17> terms;
  for (size_t k = 0; k < products; ++k) terms[k] = multiply(decode(a[k], format), decode(b[k], format));
  terms[products] = decode(c, kFloat32);

  bool nan = false, plus = false, minus = false;
  int largest = kLeastExponent;
  for (size_t k = 0; k <= products; ++k) {
    const Term& t = terms[k];
    nan |= t.nan;
    if (t.infinite) (t.negative ? minus : plus) = true;
    if (t.significand) largest = std::max(largest, t.exponent);
  }
  if (nan || (plus && minus)) return kFloatNaN;
  if (plus || minus) return plus ? kFloatInfinity : kFloatSign | kFloatInfinity;

  int64_t sum = 0;  // at most 17 terms below 2^27
  for (size_t k = 0; k <= products; ++k) {
    const int fraction_bits = k < products ? 2 * format.fraction_bits : kFloatBits;
    const auto part =
        static_cast<int64_t>(shift(terms[k].significand, kKeptBits - fraction_bits - (largest - terms[k].exponent)));
    sum += terms[k].negative ? -part : part;
  }
  return to_float32(sum, largest - kKeptBits);
}

}  // namespace sinter::ir
