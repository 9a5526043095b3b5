// In which loops what will be read later is asked for.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// In: the tree, and a LoopSchedule with prefetches. Out: which statements ask ahead for which LOADs: all that read
/// one, or those in one of the loops beside each other in which it moves, as the sums of a row and what follows them
/// have it.
void place_prefetches(const std::vector<LoopItem>& tree, Statements& statements, const LoopSchedule& schedule,
                      FreeRanges& ranges);

}  // namespace sinter::codegen
