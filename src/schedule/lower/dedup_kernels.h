// Whether two kernels have the same body: then it is written and compiled once, and launched with different buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Names the kernel's variables after their positions in kernel.vars, so that kernels that differ only in the plan's
/// variables become equal. The result is in a new arena.
void normalize_vars(codegen::Kernel& kernel);

/// The nodes of a kernel and of its epilogue, sources first.
std::vector<UOp> nodes_of(const codegen::Kernel& kernel);
/// Whether the graphs under both sinks are equal. Names do not count.
bool same_kernel(const codegen::Kernel& a, const codegen::Kernel& b);
/// Equal for equal bodies.
uint64_t hash_kernel(const codegen::Kernel& kernel);

}  // namespace sinter::schedule
