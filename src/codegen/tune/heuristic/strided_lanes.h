// Memory that lies across the lanes: ranges along which it lies side by side get copies, so that whole lines are used
// at once.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Part of the last cache that what is stored to many rows at a time fills, so that it goes past it: no hardware asks
/// for those lines ahead.
inline constexpr double kRowStreamL3Share = .5;

/// Where a store reads or writes memory strided along its lanes: as many copies as a register has lanes, of a range
/// along which nothing long is summed.
void choose_register_transposes(TuningState& state);

/// With an Unroll for each sum that reads memory strided along its lanes, and side by side along the last range that it
/// closes: small matrices are transposed in registers. Legal if `opts` are.
std::vector<Opt> transpose_sums(TuningState& state, std::vector<Opt> opts);

}  // namespace sinter::codegen
