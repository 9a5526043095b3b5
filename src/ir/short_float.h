// float16 and bfloat16 are storage types. Arithmetic is done in float32 and rounded once per op.
#pragma once

#include <cstdint>

#include "sinter/dtype.h"

namespace sinter::ir {

constexpr bool is_short_float(DType d) { return d == DType::F16 || d == DType::BF16; }

/// The type in which ops on a type compute: float32 for the 16-bit floats, else the type itself.
constexpr DType compute_type(DType d) { return is_short_float(d) ? DType::F32 : d; }

/// The 16 bits of the nearest number of a 16-bit float, ties to even; infinity on overflow. A NaN keeps its sign and
/// upper digits.
uint16_t short_float_bits(DType dtype, double value);
/// The value of 16 bits of that type; exact.
double short_float_value(DType dtype, uint16_t bits);

}  // namespace sinter::ir
