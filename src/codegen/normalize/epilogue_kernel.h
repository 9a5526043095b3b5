// The phase after all points of a kernel, as a kernel of its own.
#pragma once

#include "codegen/kernel/kernel.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In: a kernel with an epilogue. Out: that SINK as a kernel. On a CPU it has no outer ranges: one thread runs it. On a
/// GPU the ranges of known size that all of its stores run over become outer ones, so that many blocks share it, unless
/// one store reads what another one writes.
Kernel make_epilogue_kernel(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
