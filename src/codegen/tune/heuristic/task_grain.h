// How much of a kernel's outer ranges one point of a launch covers.
#pragma once

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Adds Blocks to the Opts: points of some kTaskCycles cycles, enough of them for all threads, which share what they
/// read and repeat little.
void choose_task_grain(TuningState& state);

}  // namespace sinter::codegen
