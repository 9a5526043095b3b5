// Drops conditions that no longer matter after an axis was broadcast.
#pragma once

#include "codegen/kernel/ranges.h"
#include "rewrite/movement_index.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// The predicate of a place without conditions on loops that its index lacks: a broadcast value is the same in all of
/// their iterations. Keeps conditions on loaded values, which raise errors, and conditions on loops that share a
/// condition with a loop of the index. Null if none is left.
UOp needed_predicate(const ir::ElementIndex& at, codegen::FreeRanges& free);

}  // namespace sinter::schedule
