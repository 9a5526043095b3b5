// Which REDUCEs tensor cores compute under a list of Opts, and in which loops.
#pragma once

#include <optional>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// The tiles in which tensor cores compute a REDUCE; none if they do not.
std::optional<LoopSchedule::MmaRanges> mma_ranges_of(UOp reduce, const LoopSchedule& schedule, FreeRanges& ranges);

/// The loops of a REDUCE or STORE along which threads differ, none of them by the digits of another: all but the depth
/// of tiles, along which the threads of a warp work together, and straight loops that it merely stands in.
std::vector<LoopLevel> loops_with_own_threads(UOp node, std::vector<LoopLevel> loops, FreeRanges& ranges);

/// Why a REDUCE in steps of a tensor core cannot run in its loops; null: it can.
const char* why_no_steps(const Statement& reduce, FreeRanges& ranges);

}  // namespace sinter::codegen
