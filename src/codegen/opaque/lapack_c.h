// The kernel of a call of LAPACK.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/base/kernel_source.h"

namespace sinter::codegen {

/// C that passes its buffers to sinter_lapack(), which the loader binds (runtime/cpu/lapack.h). A task is a matrix.
runtime::KernelSource lapack_c(const Kernel& kernel);

}  // namespace sinter::codegen
