// Conditions of a place that still matter once an axis was broadcast.
#pragma once

#include "codegen/kernel/ranges.h"
#include "rewrite/movement_index.h"

namespace sinter::schedule {

/// The predicate of a place without the conditions on loops that its index no longer has: what was broadcast there is
/// the same in all of their iterations. Conditions on values that were read stay, for they raise errors; so do those on
/// loops that share a condition with one of the index. Null: none is left.
ir::UOp needed_predicate(const ir::ElementIndex& at, codegen::FreeRanges& free);

}  // namespace sinter::schedule
