// The Opts that a kernel gets without a search.
#pragma once

#include <vector>

#include "codegen/kernel.h"
#include "codegen/opt.h"
#include "runtime/target.h"

namespace sinter::codegen {

std::vector<Opt> heuristic(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
