// Source of a step of a sort (ir/sort_runs.h), for CPUs and GPUs.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The function is named after the kernel plus a hash of the text.
runtime::KernelSource sort_source(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
