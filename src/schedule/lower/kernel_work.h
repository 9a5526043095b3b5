// The work of one launch of a kernel, counted from its loops: for DEBUG=2, the counters and the split among threads.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/exec/plan.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Float arithmetic, and the number of elements of each Param that loads and stores can touch. A gather touches as many
/// elements as it has indices, whatever the size of the table.
runtime::KernelWork work_of(const codegen::Kernel& kernel);

}  // namespace sinter::schedule
