// From the loop tree to instructions: loops over tasks, vectors, unrolled copies and tails.
#pragma once

#include "codegen/nest/loop_tree.h"
#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In: a kernel, its schedule, its statements and their tree. Out: instructions, with no operations but those that
/// ops.def defines. A loop with lanes or unrolled copies runs while a whole step fits. A tail with the same body
/// follows: it has as many copies as it needs and a lane limit on the last one, so that only loads and stores at the
/// edge are masked. If the trip count is known at run time only, a tail without lanes runs its copies one by one.
/// Threads that share a loop all run every iteration, and accesses past its end are masked.
Instructions emit_kernel(const Kernel& kernel, const runtime::Target& target, const LoopSchedule& schedule,
                         const Statements& statements, const std::vector<LoopItem>& tree, FreeRanges& ranges);

}  // namespace sinter::codegen
