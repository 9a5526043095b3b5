// Prefetch of streams that hardware does not fetch in time.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Prefetches for operands of reductions that exceed the second cache by far and are read from beginning to end:
///
///   - one row at a time: hardware prefetch ends with each page and pauses while a row is processed;
///   - in vectors under masks, as windows with a border: hardware does not predict these loads;
///   - in adjacent rows that are transposed in registers.
///
/// Also for an operand that a store reads without a reduction and that exceeds the last cache, if it is the only one:
/// arithmetic keeps a core from looking far ahead. Plain copies neither gain nor lose. None for whole vectors of
/// several adjacent rows, which are as many hardware streams. Where the last cache is far, only the second of several
/// loops over a row prefetches, and data that one loop reads is prefetched from a shorter distance. The proposals may
/// be illegal.
std::vector<Opt> prefetch_streams(TuningState& state);

}  // namespace sinter::codegen
