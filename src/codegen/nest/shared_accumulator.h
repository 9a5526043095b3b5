// Accumulators that several results, or all chains, of one REDUCE have in common.
#pragma once

#include "codegen/kernel/ranges.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// The source that an accumulator follows alone, as the maximum of an ExpSum follows its scores. Results that differ
/// only along straight loops on which that source does not depend have the same accumulator, and share it. Null: each
/// result has its own.
UOp followed_source(const Statement& reduce, size_t accumulator, FreeRanges& ranges);

/// Whether all chains of a REDUCE with lanes along its own range have the same accumulator, as the count of a Moments:
/// it follows a constant, and each step has an element for every chain.
bool is_shared_by_chains(const Statement& reduce, size_t accumulator);

}  // namespace sinter::codegen
