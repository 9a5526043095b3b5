// The code generator: from a kernel to C or CUDA C++ source.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/opaque/opaque_source.h"
#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"
#include "runtime/program/program.h"

namespace sinter::codegen {

/// Source of a kernel for a target, under the heuristic's Opts. The function is named after the kernel plus a hash of
/// the text, so equal kernels get equal names. Adds nodes to the kernel's graph: no other thread may use the graph
/// during the call. `kernel` itself is not changed. Throws InternalError if the kernel violates the form in
/// codegen/kernel/kernel.h. DEBUG=3 prints the Opts, DEBUG=5 the result of each pass.
runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target);
/// The same under given Opts. Throws IllegalOpt if an Opt is not legal.
runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts);

/// A kernel after all graph-to-graph passes, and its epilogue phase as a separate kernel
/// (codegen/normalize/epilogue_kernel.cpp). Opts refer to nodes of these graphs.
struct NormalizedKernel {
  Kernel main;
  std::optional<Kernel> epilogue_kernel;
};
NormalizedKernel normalize(const Kernel& kernel, const runtime::Target& target = {});
/// The Opts of its epilogue under the main part's; none if it has no epilogue.
std::vector<Opt> choose_epilogue_opts(const NormalizedKernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts);
runtime::KernelSource generate_source(const NormalizedKernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts, const std::vector<Opt>& epilogue_opts);

/// The two halves of generate_source(): lowering to instructions under Opts, then rendering to text.
struct LoweredKernel {
  Instructions main;
  std::optional<Instructions> epilogue_kernel;
  std::vector<int64_t> blocks;  ///< as in KernelSource
  int64_t epilogue_blocks = 1;
};
LoweredKernel lower(const NormalizedKernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                    const std::vector<Opt>& epilogue_opts);
runtime::KernelSource render(const LoweredKernel& code, const std::string& name, const runtime::Target& target);

}  // namespace sinter::codegen
