// Interleaves unrolled copies of a long computation.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In:  instructions for a CPU, in which unrolled copies of a loop body follow one another.
/// Out: the same instructions in another order. Long independent computations that end in their own stores or
/// accumulators are interleaved step by step, and so are the dependence chains within one computation.
/// Why: the reorder window of a CPU holds a few hundred instructions. If the next copy starts beyond it, the loop is
/// latency-bound.
Instructions interleave(const Instructions& code);

}  // namespace sinter::codegen
