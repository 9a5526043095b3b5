// Where conditions on a range change, as at the seams of joined tensors: there its loop is cut.
#pragma once

#include <optional>
#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// The range whose cuts save most, with lanes as they are chosen. None if they save little, or make the code much
/// longer. Predicates of products are left to peel.h, and cut ranges are in no register tile.
std::optional<RangeCut> choose_cut(TuningState& state);

/// Adds the Cut of the chosen range. A step that contains a seam is a segment of its own. Legal if `opts` are.
std::vector<Opt> add_cut(TuningState& state, std::vector<Opt> opts);

}  // namespace sinter::codegen
