// Loops whose operands are turned into vectors across memory: those of the next turn among the multiplications of this
// one.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In:  instructions for a CPU that has so many vector registers.
/// Out: the same, where innermost loops that transpose small matrices in registers and multiply their columns into
/// accumulators are software pipelines: what was loaded and exchanged ahead of a turn's multiplications is done among
/// those of the turn before, ahead of the loop for the first turn, and once more, for nothing, in the last one. A burst
/// of exchanges keeps the units waiting that multiply; spread evenly they cost nothing. Sums keep their order, element
/// by element.
Instructions software_pipeline(const Instructions& code, int registers);

}  // namespace sinter::codegen
