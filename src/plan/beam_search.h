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
  double peak = 0;         ///< float32 FLOPs per ns of one thread of a CPU, for the time bounds; 0: as measured
};

/// Opts of kernel `number` of `scheduled`, prepared as `kernel`, for the plan's device, whose Target is `target`. Lists
/// come from plan/opt_source.h. On a CPU: the heuristic's list, then neighbors of the `beam` fastest lists while that
/// pays, within the limits. On a GPU: the 8 * `beam` lists that the tuner's model ranks first. Each is compiled and
/// timed on the device; one that does not compile or that the device refuses is left out. The result is stored in the
/// cache folder, so a kernel is searched once per machine. DEBUG=2 logs the search. Returns none if there is no memory
/// for trials now, or nothing can be timed; that is not stored. One search at a time. Hold no graph lock.
std::optional<std::vector<codegen::Opt>> search_opts(const schedule::KernelSchedule& scheduled, size_t number,
                                                     const codegen::NormalizedKernel& kernel,
                                                     const runtime::Target& target, int beam,
                                                     const SearchLimits& limits = {});

}  // namespace sinter::plan
