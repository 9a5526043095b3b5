// Which loops are unrolled and jammed: independent operations keep a core busier than lanes alone.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Whether each addition of a reduction waits for the one before: it has neither lanes nor chains.
bool is_serial_sum(const TuningState& state, const StatementAnalysis& w);

/// Chooses unrolled copies for ranges that belong to neither a product nor a register transpose. Then adds the Lanes
/// and Unrolls of all ranges to the Opts.
void choose_unrolls(TuningState& state);

}  // namespace sinter::codegen
