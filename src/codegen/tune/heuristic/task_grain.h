// How much of a kernel's outer ranges one task covers.
#pragma once

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Adds TaskBlocks to the Opts. Tasks take about kTaskCycles cycles, suffice for all threads, share what they read,
/// and recompute little.
void choose_task_grain(TuningState& state);

}  // namespace sinter::codegen
