// Registers that hold accumulators of REDUCEs.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"
#include "codegen/tune/gpu/thread_loop.h"

namespace sinter::codegen {

/// Chains of a REDUCE's ReductionTree that one thread has.
double chains_per_thread(const Statement& reduce, const std::vector<ThreadLoop>& loops);

/// Per statement: registers of a REDUCE's accumulators, of those that share its loops, unless one waits for the
/// other's result, and of those in whose loops it stands; 0 for others. Around the loops of others, carried ones are in
/// memory.
std::vector<double> accumulator_registers(const Statements& statements, const LoopSchedule& schedule,
                                          FreeRanges& ranges);

}  // namespace sinter::codegen
