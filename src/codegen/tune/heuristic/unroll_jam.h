// Which loops have several of their steps side by side: lanes are not all that a core does at once.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Whether each addition of a sum waits for the one before: it has no lanes and no chains.
bool is_serial_sum(const TuningState& state, const StatementAnalysis& w);

/// Sets copies of what is neither a product's nor transposed, and adds the Lanes and Unrolls of all ranges to the Opts.
void choose_unrolls(TuningState& state);

}  // namespace sinter::codegen
