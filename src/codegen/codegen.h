// The code generator: a kernel in, the text of a program out.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"
#include "runtime/program/program.h"

namespace sinter::codegen {

/// The C text of a kernel for a target. Its name is the kernel's with a hash of the text: equal kernels have equal
/// names. Nodes are added to the kernel's graph, which only the calling thread may use meanwhile; `kernel` itself stays
/// as it is. Throws InternalError for a kernel that is not in the form of codegen/kernel/kernel.h. DEBUG=3 prints the
/// Opts, DEBUG=5 what each pass made.
runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target);
/// The same under given Opts. Throws IllegalOpt if one of them is not legal.
runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts);

/// A kernel after the passes that make graphs of graphs, and its epilogue phase as a kernel of its own
/// (codegen/normalize/epilogue_kernel.h): what Opts speak about.
struct NormalizedKernel {
  Kernel main;
  std::optional<Kernel> epilogue_kernel;
};
NormalizedKernel normalize(const Kernel& kernel, const runtime::Target& target = {});
runtime::KernelSource generate_source(const NormalizedKernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts, const std::vector<Opt>& epilogue_opts);

/// The two halves of generate_source(): instructions under Opts, and their text.
struct LoweredKernel {
  Instructions main;
  std::optional<Instructions> epilogue_kernel;
  std::vector<int64_t> blocks;  ///< as KernelSource has them
  int64_t epilogue_blocks = 1;
};
LoweredKernel lower(const NormalizedKernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                    const std::vector<Opt>& epilogue_opts);
runtime::KernelSource render(const LoweredKernel& code, const std::string& name, const runtime::Target& target);

}  // namespace sinter::codegen
