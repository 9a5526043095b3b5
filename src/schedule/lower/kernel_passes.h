// The passes over kernels that leave Rangeifier, in the order in which schedule.cpp runs them.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/exec/plan.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a kernel with sums that depend on (r + c) / k and (r + c) % k, for an outer range r of n * k values and one k.
///      Either k is small and no load uses both: the gradient of a window with stride k, or a transposed convolution.
///      Or k is a multiple of 16 and one load uses both of r: joined heads, or a matrix in panels of k columns.
/// Out: the same stores with r = q * k + p, for adjacent outer ranges q of n values and p of k. Reads have a fixed
///      stride along q, and the taps depend on p alone; in panels the stride is fixed along both. Tasks keep their
///      order.
void split_polyphase(codegen::Kernel& kernel);

/// In:  a plan's kernels, each distinct body once, with their steps and their work.
/// Out: if more than a few kernels are equal but for constants added to indices, one kernel replaces them, and
///      each step passes its own constants (PlanStep::offsets). Examples: slices of a long tensor, the parts of a
///      `cat`, the steps of a loop over time. Three are enough where the constants belong to outer dims: they move a
///      pointer once. Smaller groups stay, as constant indices of innermost dims make better code.
void share_offsets(std::vector<codegen::Kernel>& kernels, runtime::Plan& plan);

}  // namespace sinter::schedule
