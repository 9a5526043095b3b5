// Arithmetic on float16 and bfloat16 becomes arithmetic in float32 between conversions.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  a kernel as it comes.
/// Out: the same values. The 16-bit floats are loaded, stored, selected and converted from and to float32; every op
/// that
///      computed in one computes in float32, and its result is rounded to the type, so that what a kernel keeps to
///      itself has the bits of what it would store. Before the expansion of math functions, which know float32 and
///      float64.
ir::UOp widen_short_floats(ir::Graph& g, ir::UOp sink);

/// Whether a node computes in a 16-bit float, or converts one from or to another type than float32.
bool computes_in_short_float(ir::UOp n);

}  // namespace sinter::codegen
