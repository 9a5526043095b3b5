// The code generator: a kernel in, the text of a program out.
#pragma once

#include "codegen/kernel.h"
#include "codegen/opt.h"
#include "runtime/program.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// The C text of a kernel for a target. Its name is the kernel's with a hash of the text: equal kernels have equal
/// names. Nodes are added to the kernel's graph, which only the calling thread may use meanwhile; `kernel` itself stays
/// as it is. Throws InternalError for a kernel that is not in the form of codegen/kernel.h. DEBUG=5 prints what each
/// pass made.
runtime::KernelSource write(const Kernel& kernel, const runtime::Target& target);
/// The same under given Opts. Throws InternalError if one of them is not legal.
runtime::KernelSource write(const Kernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
