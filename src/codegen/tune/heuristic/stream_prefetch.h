// What sums read from memory and a core does not ask for in time.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// A Prefetch for each operand of sums that does not fit the second cache by far and is read from its beginning to its
/// end, either one row at a time (what a core asks for by itself ends with each page, and waits while a row is computed
/// with), or in vectors under masks, as those of windows with a border, which it does not foresee, or in rows side by
/// side that are turned in registers; and for what stores read without a sum and the last cache does not hold, where
/// that is one operand: arithmetic keeps a core from seeing far ahead, and copies neither gain nor lose. None for whole
/// vectors of several rows side by side, which are as many streams. Where the last cache is far, the second of several
/// loops over a row asks alone, and what one loop reads is asked for from nearer. Proposals: whether they are legal is
/// another question.
std::vector<Opt> prefetch_streams(TuningState& state);

}  // namespace sinter::codegen
