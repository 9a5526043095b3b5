// Which statements prefetch what later iterations read.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// In: the tree, and a LoopSchedule with prefetches. Out: Statement::prefetches. A LOAD is prefetched by all of its
/// readers, or by those in one of several sibling loops along which it advances. A row has such siblings: the loops of
/// its reductions, and the loop that follows them.
void place_prefetches(const std::vector<LoopItem>& tree, Statements& statements, const LoopSchedule& schedule,
                      FreeRanges& ranges);

}  // namespace sinter::codegen
