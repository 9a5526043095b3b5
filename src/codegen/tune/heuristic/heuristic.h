// The Opts that a kernel gets without a search.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// For a GPU (heuristic_cuda.cpp): which ranges the threads of a block share, and register tiles.
std::vector<Opt> cuda_heuristic(const Kernel& kernel, const runtime::Target& target);

/// For any Target.
std::vector<Opt> heuristic(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
