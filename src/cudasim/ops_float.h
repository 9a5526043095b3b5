// Floating-point variants of the opcodes shared with integers.
#pragma once

#include "cudasim/decode.h"

namespace sinter::runtime::cuda::sim {

void decode_float_add(Decoder& d);
void decode_float_sub(Decoder& d);
void decode_float_mul(Decoder& d);
void decode_float_div(Decoder& d);
void decode_float_min(Decoder& d);
void decode_float_max(Decoder& d);
void decode_float_abs(Decoder& d);
void decode_float_neg(Decoder& d);
void decode_fma(Decoder& d);

}  // namespace sinter::runtime::cuda::sim
