// Interleaved row reductions: several rows in memory are read side by side, as streams.
#pragma once

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Unrolls an outer range of a kernel that is memory-bound and whose only reductions are those of rows, each read
/// once. These streams get no prefetch (stream_prefetch.h): hardware fetches them in time, and together.
void choose_multi_row_reduction(TuningState& state);

}  // namespace sinter::codegen
