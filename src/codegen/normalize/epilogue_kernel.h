// The epilogue phase of a kernel, after all of its tasks, as a separate kernel.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In:  a kernel with an epilogue.
/// Out: the epilogue's SINK as a kernel. On a CPU it has no outer ranges: one thread runs it. On a GPU the ranges of
/// constant size common to all of its stores become outer ranges, so that many blocks share the work, unless one
/// store reads what another writes.
Kernel make_epilogue_kernel(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
