// Where an epilogue runs: in a launch of its own, or in the last block of its main kernel.
#pragma once

#include <optional>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/gpu/clock_model.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The Opts of a kernel's epilogue, both normalized: the best ones for a launch of its own, or the best ones for the
/// last block of the main kernel under `opts`, with LastBlock, where the clock model finds these faster. The only place
/// that decides which of the two it is.
std::vector<Opt> tune_epilogue(const Kernel& epilogue, const Kernel& main, const std::vector<Opt>& opts,
                               const runtime::Target& target);

/// predict_clocks() of an epilogue behind a main kernel with these terms. With LastBlock, each wave of the main
/// kernel's blocks takes tickets.
std::optional<ClockTerms> predict_epilogue(const Kernel& epilogue, const std::vector<Opt>& opts, const ClockTerms& main,
                                           const runtime::Target& target);

}  // namespace sinter::codegen
