// Chooses the Opts of a kernel by timing: SINTER_BEAM=N. Optional, and Opts never change a bit of a result.
#pragma once

#include <optional>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt.h"
#include "schedule/schedule.h"

namespace sinter::plan {

/// The limits of a search with beam width `beam`, and the peak rate behind its time bounds. Only tests set them.
struct SearchLimits {
  size_t candidates = 48;  ///< timed candidates in total, times `beam`
  double seconds = 3;      ///< no batch begins after this, times `beam`
  double peak = 0;         ///< float32 FLOPs per ns of one thread, for the time bounds; 0: as measured
};

/// Opts of kernel `number` of `scheduled`, prepared as `kernel`, for the CPU of this process. Begins with the
/// heuristic's list and continues with the `beam` fastest lists and their neighbors while that pays, within the limits.
/// Only candidates whose time bound (codegen/tune/search/time_bound.h) is below the best time are compiled and timed.
/// The result is stored in the cache folder, so a kernel is searched once per machine. DEBUG=2 logs the search. Returns
/// none if there is no memory for trials now; that is not stored. One search at a time. Hold no graph lock.
std::optional<std::vector<codegen::Opt>> search_opts(const schedule::KernelSchedule& scheduled, size_t number,
                                                     const codegen::NormalizedKernel& kernel,
                                                     const runtime::Target& target, int beam,
                                                     const SearchLimits& limits = {});

}  // namespace sinter::plan
