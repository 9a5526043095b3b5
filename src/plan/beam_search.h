// The Opts of a kernel by trying: what SINTER_BEAM=N asks for. Never needed, and never a bit of a result: Opts change
// none.
#pragma once

#include <optional>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt.h"
#include "schedule/schedule.h"

namespace sinter::plan {

/// What ends a search of `beam` lists side by side, and the peak that its bounds are made of. Only tests ask for
/// others.
struct SearchLimits {
  size_t candidates = 48;  ///< that are timed in all, times `beam`
  double seconds = 3;      ///< after which no batch begins, times `beam`
  double peak = 0;  ///< float32 FLOPs per ns of one thread, for the bounds of candidates; 0: those that are measured
};

/// Opts of kernel `number` of `scheduled`, prepared as `kernel`, for the CPU of this process. Begins with the
/// heuristic's and goes on with the `beam` fastest lists and their neighbours while that pays, within the limits; only
/// candidates whose bound (codegen/tune/search/time_bound.h) is below the best time are compiled and timed. What it
/// decides is kept in the cache folder, so that it is asked once per kernel and machine; DEBUG=2 says what it did. None
/// where there is no memory for trials now: that is no decision. One search at a time; hold no graph lock.
std::optional<std::vector<codegen::Opt>> search_opts(const schedule::KernelSchedule& scheduled, size_t number,
                                                     const codegen::NormalizedKernel& kernel,
                                                     const runtime::Target& target, int beam,
                                                     const SearchLimits& limits = {});

}  // namespace sinter::plan
