// Convolutions of images with borders: rows of the image are copied with their borders, and lanes lie along them.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// All Opts of a kernel whose only reduction is a product of windows that reach over a border, with rows of whole
/// vectors. Empty for other kernels, and if the Opts are illegal.
std::vector<Opt> stage_window_rows(TuningState& state);

}  // namespace sinter::codegen
