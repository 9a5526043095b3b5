// Opts that a search may add to a list and that say how values come from memory and go there.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// Proposals: whether they are legal beside the others is another question. `given`: the list that each would be added
/// to.
///
/// A tile for one more LOAD that several values share: it covers what a point goes through of the ranges that the LOAD
/// depends on, blocks of those that are split; ranges with lanes lie innermost, in panels of what their copies read
/// together or in rows.
std::vector<Opt> tile_copies_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given);
/// Each LOAD asks for what it will touch some steps later along the innermost range that moves it.
std::vector<Opt> prefetches_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given);
/// Each store past the caches.
std::vector<Opt> nontemporal_stores_to_try(const Kernel& kernel);

}  // namespace sinter::codegen
