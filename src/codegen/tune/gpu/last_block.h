// Where an epilogue runs: in a launch of its own, or in the last block of its main kernel.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The Opts of a kernel's epilogue, both normalized: the best ones for a launch of its own, or the best ones for the
/// last block of the main kernel under `opts`, with LastBlock, where the clock model finds these faster. The only place
/// that decides which of the two it is.
std::vector<Opt> tune_epilogue(const Kernel& epilogue, const Kernel& main, const std::vector<Opt>& opts,
                               const runtime::Target& target);

}  // namespace sinter::codegen
