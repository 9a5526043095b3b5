// Conversion counts in units of the spacing around the value: every number is a whole multiple of it. That count,
// continued from the smallest number of its binade, is the encoding.
#include "ir/short_float.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sinter::ir {
namespace {

struct Layout {
  int digits;  ///< stored ones
  int bias;
  uint16_t infinity;
};
constexpr Layout layout_of(DType dtype) {
  return dtype == DType::F16 ? Layout{10, 15, 0x7c00} : Layout{7, 127, 0x7f80};
}

constexpr int kDigits = 52;  ///< stored ones of a double
constexpr uint64_t kInfinity = 0x7ff0000000000000u, kFraction = (uint64_t{1} << kDigits) - 1;

}  // namespace

uint16_t short_float_bits(DType dtype, double value) {
  const Layout t = layout_of(dtype);
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) {
    const auto digits = static_cast<uint16_t>((std::bit_cast<uint64_t>(value) & kFraction) >> (kDigits - t.digits));
    return static_cast<uint16_t>(sign | t.infinity | (digits ? digits : 1 << (t.digits - 1)));
  }
  if (std::isinf(value)) return static_cast<uint16_t>(sign | t.infinity);
  if (value == 0) return sign;  // in no binade
  int above = 0;                // |value| < 2^above
  std::frexp(value, &above);
  const int binade = std::max(above - 1, 1 - t.bias);
  const double spacings = std::nearbyint(std::ldexp(std::fabs(value), t.digits - binade));
  // In the lowest binade, the leading digit of a number in the upper half falls on the exponent's lowest bit.
  const int64_t bits = static_cast<int64_t>(spacings) + (static_cast<int64_t>(binade + t.bias - 1) << t.digits);
  return static_cast<uint16_t>(sign | std::min<int64_t>(bits, t.infinity));
}

double short_float_value(DType dtype, uint16_t bits) {
  const Layout t = layout_of(dtype);
  const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
  const int size = bits & 0x7fff, digits = size & ((1 << t.digits) - 1), exponent = size >> t.digits;
  if (size >= t.infinity)
    return std::bit_cast<double>(sign | kInfinity | static_cast<uint64_t>(digits) << (kDigits - t.digits));
  const int spacings = exponent ? digits | 1 << t.digits : digits;
  const double value = std::ldexp(spacings, std::max(exponent, 1) - t.bias - t.digits);
  return sign ? -value : value;
}

}  // namespace sinter::ir
