// Stores of carried reductions, which run in loops of their own.
#pragma once

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Chooses unroll factors and loop order of a STORE whose reductions are all carried. It reads them from memory in
/// loops that follow theirs. Unrolled copies let reductions share operands; a store shares none and gets its own
/// factors: two vectors along a contiguous range, none along other ranges. Where lanes are strided, a contiguous range
/// gets as many copies as a register transpose takes, within a panel of the tiles read, and the loops with the smallest
/// stride go innermost. `made`: has the statements that the STORE depends on.
void choose_store_loops(Statement& store, const Statements& made, const LoopSchedule& schedule);

}  // namespace sinter::codegen
