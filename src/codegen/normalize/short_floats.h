// Computes float16 and bfloat16 arithmetic in float32.
#pragma once

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. 16-bit floats are only loaded, stored, selected and converted from and to float32. Every op
/// that computed in a 16-bit float computes in float32 and rounds its result to the type, so an intermediate value has
/// the bits that a stored one would have. Must run before expand_math(), which handles float32 and float64 only.
UOp widen_short_floats(ir::Graph& g, UOp sink);

/// Whether a node computes in a 16-bit float, or converts between one and a type other than float32.
bool computes_in_short_float(UOp n);

}  // namespace sinter::codegen
