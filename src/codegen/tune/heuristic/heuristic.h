// The Opts that a kernel gets on a CPU without a search.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

std::vector<Opt> cpu_heuristic(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
