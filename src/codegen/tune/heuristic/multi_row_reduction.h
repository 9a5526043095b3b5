// Sums of rows in memory: several rows are gone through side by side, as streams.
#pragma once

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Sets the copies of an outer range of a kernel whose only sums are those of rows, each read once, where memory is
/// slower than that. Such streams are not asked for ahead (stream_prefetch.h): they are fetched in time, and together.
void choose_multi_row_reduction(TuningState& state);

}  // namespace sinter::codegen
