// What one launch of a kernel costs, counted from its loops: for DEBUG=2, the counters, and sharing among threads.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/exec/plan.h"

namespace sinter::schedule {

/// Arithmetic on floats, and how many elements of each Param its loads and stores can touch. A look-up touches as many
/// elements as it has indices, whatever the size of the table.
runtime::KernelWork work_of(const codegen::Kernel& kernel);

}  // namespace sinter::schedule
