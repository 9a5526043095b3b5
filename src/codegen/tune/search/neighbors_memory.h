// Opts that a search may add to a list to change how values are loaded and stored: tile copies, prefetches,
// nontemporal stores.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// All functions return proposals that may be illegal beside the other Opts of the list. `given` is the list that each
/// proposal would be added to.
///
/// Tile copies for one more LOAD that is reused. The tile covers the part of each range of the LOAD that a task
/// executes, or one block if the range is split. Ranges with lanes are innermost. Each LOAD is proposed in rows, and
/// in panels of the elements that one step of the consumer reads.
std::vector<Opt> tile_copies_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given);
/// Prefetches for each LOAD, a few steps ahead along the innermost range that the LOAD depends on.
std::vector<Opt> prefetches_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given);
/// A nontemporal variant of each store.
std::vector<Opt> nontemporal_stores_to_try(const Kernel& kernel);

}  // namespace sinter::codegen
