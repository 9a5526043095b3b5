// Sorts of which only the elements are wanted.
#pragma once

#include "runtime/base/target.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// A SORT whose positions nothing reads but GATHERs of what it sorts gives the elements themselves. On CPUs: a GPU's
/// network tells equal elements apart by their positions.
void sort_values_alone(PlanGraph& plan, const runtime::Target& target);

}  // namespace sinter::schedule
