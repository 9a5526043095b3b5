// The buffers of a plan: one per stored value. Scratch lives from its store to its last read.
#pragma once

#include "runtime/exec/plan.h"
#include "schedule/fusion/partition.h"
#include "schedule/graph/plan_graph.h"
#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// Adds to `plan` the slots, a buffer per output that is not stored in its home, and a buffer per value passed between
/// kernels. Fills plan.outputs.
Placement place_values(const PlanGraph& graph, const Partition& p, runtime::Plan& plan);

/// Adds a buffer and returns its number.
int add_buffer(runtime::Plan& plan, runtime::PlanBuffer::Kind kind, DType dtype, const Shape& shape,
               const std::vector<Var>& vars);

/// A size in a plan: fixed, or the index of its variable.
runtime::PlanDim plan_dim(const Dim& dim, const std::vector<Var>& vars);

}  // namespace sinter::schedule
