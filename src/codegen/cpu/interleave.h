// Copies of a long computation side by side.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In:  instructions for a CPU, in which register copies of a loop's body stand one behind the other.
/// Out: the same instructions in another order: computations of many steps that end in stores or accumulators of their
/// own, and need nothing of each other, take turns step by step, and so do the chains inside of one. A CPU looks ahead
/// over some hundred instructions only; where the next copy begins behind those, it waits for the latencies of the one
/// it has.
Instructions interleave(const Instructions& code);

}  // namespace sinter::codegen
