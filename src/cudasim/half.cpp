#include "cudasim/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sinter::runtime::cuda::sim {

// Moves the fraction to where a float has it. The value is then off by a power of two, which one exact multiplication
// corrects, also for denormals: float32 has room for all exponents of both formats.
float half_to_float(uint16_t bits, const HalfFormat& format) {
  const uint32_t magnitude = bits & 0x7fffu, shifted = magnitude << (23 - format.mantissa_bits);
  float value;
  if (magnitude >= format.infinity)
    value = std::bit_cast<float>(0x7f800000u | shifted);
  else
    value = std::bit_cast<float>(shifted) * format.scale;
  return bits & 0x8000 ? -value : value;
}

double round_to_integer(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::Nearest: return std::nearbyint(value);
    case Rounding::Zero: return std::trunc(value);
    case Rounding::Down: return std::floor(value);
    case Rounding::Up: return std::ceil(value);
  }
  return value;
}

uint16_t round_to_half(double value, const HalfFormat& format, Rounding rounding) {
  if (std::isnan(value)) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value)) return static_cast<uint16_t>(sign | format.infinity);
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  // In units of the last place: an integer with one bit more than the mantissa, or fewer bits for a denormal. A carry
  // out of the mantissa increments the exponent, as the encoding requires.
  const double units = std::abs(round_to_integer(std::ldexp(value, format.mantissa_bits - exponent), rounding));
  const int64_t bits =
      (static_cast<int64_t>(exponent - format.least_exponent) << format.mantissa_bits) + static_cast<int64_t>(units);
  if (bits < format.infinity) return static_cast<uint16_t>(sign | bits);
  const bool away = rounding == Rounding::Nearest || rounding == (sign ? Rounding::Down : Rounding::Up);
  return static_cast<uint16_t>(sign | (away ? format.infinity : format.infinity - 1));
}

}  // namespace sinter::runtime::cuda::sim
