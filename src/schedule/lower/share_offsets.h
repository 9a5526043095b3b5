// Kernels that do the same at other places of their buffers.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/exec/plan.h"

namespace sinter::schedule {

/// In:  a plan's kernels, each body once, with their steps and their work.
/// Out: where more than a few of them are equal but for constants that are added to indices, one kernel in their place,
///      to which each step says its own (PlanStep::offsets): the slices of a long tensor, the parts of a `cat`, the
///      steps of a loop in time. A few stay as they are, since what is known of an index makes better code.
void share_offsets(std::vector<codegen::Kernel>& kernels, runtime::Plan& plan);

}  // namespace sinter::schedule
