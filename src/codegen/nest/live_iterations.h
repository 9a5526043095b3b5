// Iterations of a loop that need not run, since what they join to a reduction is nothing: blocks of keys that a causal
// mask hides from all rows of a tile.
#pragma once

#include "codegen/nest/loop_bounds.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Sets LoopLevel::live of the outermost loop over a range. All that leaves such a loop is ExpSums over the range whose
/// values are WHERE(live, .., identity), or sums on tensor cores that have it as their common predicate.
void find_live_iterations(Statements& statements);

/// The bounds that `live` gives a loop. They are made of constants, outer ranges, sums, multiples and quotients by
/// positive constants, so that their extremes in a block of tasks are those at its ends.
LoopBounds live_bounds(const LoopLevel& level);

/// The share of the loop's iterations that run, on average over the tasks. 1 if it is not known.
double live_share(const LoopLevel& level, const LoopSchedule& schedule);

}  // namespace sinter::codegen
