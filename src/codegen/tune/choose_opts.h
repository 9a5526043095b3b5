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

}  // namespace sinter::codegen
