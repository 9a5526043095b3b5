// A Sort as kernels: rows in runs, then merges of runs until each row is one.
#pragma once

#include <vector>

#include "runtime/base/target.h"
#include "runtime/exec/plan.h"
#include "schedule/graph/plan_graph.h"
#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// Whether this kernel of the partition is a Sort.
bool sorts(const Partition& p, int kernel);

/// The kernels of a Sort, to run one after the other. Adds the memory between them to `plan`. A row that fits a task is
/// one step. The rows of a CPU's task are as long as they may be; a long row is cut only where threads would be idle.
std::vector<KernelInstance> sort_steps(const PlanGraph& graph, const Partition& p, const Placement& placement,
                                       int kernel, const runtime::Target& target, runtime::Plan& plan);

}  // namespace sinter::schedule
