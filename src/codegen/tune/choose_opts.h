// The Opts that a kernel gets without a measurement.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Legal Opts for any Target: by the heuristic of CPUs (codegen/tune/heuristic) or the tuner of GPUs
/// (codegen/tune/gpu). `kernel`: a part of a NormalizedKernel.
std::vector<Opt> choose_opts(const Kernel& kernel, const runtime::Target& target);

/// The same for a kernel's epilogue, whose main kernel gets `opts`. On a GPU they say whether the epilogue runs in the
/// last block of the main kernel.
std::vector<Opt> choose_epilogue_opts(const Kernel& epilogue, const Kernel& main, const std::vector<Opt>& opts,
                                      const runtime::Target& target);

}  // namespace sinter::codegen
