// Sources of opaque kernels, for CPUs and GPUs: their one op has a text of its own, and no loop is made from a graph.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Whether the kernel is a step of a sort (ir/sort_runs.h) or a call of LAPACK (ir/lapack_call.h).
bool is_opaque(const Kernel& kernel);

/// Its source. The function is named after the kernel plus a hash of the text.
runtime::KernelSource opaque_source(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
