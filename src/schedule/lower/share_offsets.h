// Kernels that differ only in offsets into their buffers.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/exec/plan.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a plan's kernels, each distinct body once, with their steps and their work.
/// Out: if more than a few kernels are equal but for constants added to indices, one kernel replaces them, and
///      each step passes its own constants (PlanStep::offsets). Examples: slices of a long tensor, the parts of a
///      `cat`, the steps of a loop over time. Three are enough where the constants belong to outer dims: they move a
///      pointer once. Smaller groups stay, as constant indices of innermost dims make better code.
void share_offsets(std::vector<codegen::Kernel>& kernels, runtime::Plan& plan);

}  // namespace sinter::schedule
