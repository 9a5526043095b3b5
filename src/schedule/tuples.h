// Reductions that need an earlier one over the same elements, written as one reduction of several accumulators.
#pragma once

#include "schedule/plan_graph.h"

namespace sinter::schedule {

/// In: sums of squared distances from the mean, and sums of exp(x - largest x), each beside the mean or maximum that it
///     needs.
/// Out: Moments and ExpSum in the place of both, where a row of x is too long to be kept until it is read again. So x is
///     read once.
/// Only shapes decide, before there are kernels, so that fused and unfused runs round alike (SEMANTICS F3).
void join_reductions(PlanGraph& plan);

}  // namespace sinter::schedule
