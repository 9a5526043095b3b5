// The 16-bit formats: conversion of float16 and bfloat16 to and from wider types, exactly rounded.
#pragma once

#include <cstdint>

namespace sinter::runtime::cuda::sim {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

struct HalfFormat {
  int mantissa_bits;
  int least_exponent;  ///< exponent of the smallest normal number
  uint16_t infinity;
  float scale;  ///< 2 to the power of the difference between the exponent biases of float32 and the format
};
inline constexpr HalfFormat kFloat16{10, -14, 0x7c00, 0x1p112f}, kBFloat16{7, -126, 0x7f80, 1};

float half_to_float(uint16_t bits, const HalfFormat& format);
/// Every NaN becomes 0x7fff, as on the device.
uint16_t round_to_half(double value, const HalfFormat& format, Rounding rounding);

/// `value` rounded to an integer in floating point.
double round_to_integer(double value, Rounding rounding);

}  // namespace sinter::runtime::cuda::sim
