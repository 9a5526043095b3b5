// When two kernels are one body: written and compiled once, launched with different buffers.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace sinter::schedule {

/// Gives the kernel's variables the names of their places in kernel.vars, so that bodies which differ in the plan's
/// numbers alone are equal. Into an arena of its own.
void normalize_vars(codegen::Kernel& kernel);

/// The nodes of a kernel and of its epilogue, sources first.
std::vector<ir::UOp> nodes_of(const codegen::Kernel& kernel);
/// Equal graphs under their sinks. Names do not count.
bool same_kernel(const codegen::Kernel& a, const codegen::Kernel& b);
/// Equal for equal bodies.
uint64_t hash_kernel(const codegen::Kernel& kernel);

}  // namespace sinter::schedule
