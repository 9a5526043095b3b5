// Where the values of a plan lie: every stored value gets a buffer, and scratch lives from its store to its last read.
#pragma once

#include "runtime/exec/plan.h"
#include "schedule/fusion/partition.h"
#include "schedule/graph/plan_graph.h"
#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// Adds to `plan` the slots, then a buffer per output that does not lie in its home and per value that goes from kernel
/// to kernel; fills plan.outputs.
Placement place_values(const PlanGraph& graph, const Partition& p, runtime::Plan& plan);

/// Once the steps stand: sets the life of every scratch buffer.
void set_lifetimes(runtime::Plan& plan);

/// A size as plans write it: fixed, or the number of the variable.
runtime::PlanDim plan_dim(const Dim& dim, const std::vector<Var>& vars);

}  // namespace sinter::schedule
