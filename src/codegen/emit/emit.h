// From the loop tree to instructions: loops over the launch's points, vectors, register copies and their tails are
// written out.
#pragma once

#include "codegen/nest/loop_tree.h"
#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In: a kernel, its schedule, its statements and their tree. Out: instructions in which only operations remain that
/// ops.def defines. A loop with lanes or copies runs while a whole step fits. The same body follows once more for what
/// is left, with as many copies as that takes and a limit to the lanes of the last one, so that only loads and stores
/// at the edge are masked; copies of a range whose size is known at run time only run one by one there. Where threads
/// share a loop every one of them makes each turn, and accesses behind its end are masked.
Instructions emit_kernel(const Kernel& kernel, const runtime::Target& target, const LoopSchedule& schedule,
                         const Statements& statements, const std::vector<LoopItem>& tree, FreeRanges& ranges);

}  // namespace sinter::codegen
