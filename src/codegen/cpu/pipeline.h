// Software pipelining of loops whose operands need a register transpose: the transpose for the next iteration overlaps
// the multiplications of the current one.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In:  instructions for a CPU with `registers` vector registers.
/// Out: the same values. Innermost loops that transpose small matrices in registers and multiply the columns into
/// accumulators are software-pipelined. The loads and shuffles of an iteration move among the multiplications of the
/// previous one. A prologue does those of the first iteration; those of the last iteration are redundant.
/// Why: a burst of shuffles stalls the multiply units; spread evenly, the shuffles are hidden. The order of each sum is
/// unchanged.
Instructions software_pipeline(const Instructions& code, int registers);

}  // namespace sinter::codegen
