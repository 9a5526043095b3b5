// A buffer for results of a product that would otherwise be stored one by one.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"

namespace sinter::codegen {

/// The Opts of a blocked product with one more loop that carries it and has a single iteration. The results wait in a
/// tile until a row of them is complete. Loops behind the product then store them. This pays where neither the lanes
/// nor the unrolled copies of the register tile are contiguous in the stored memory, so that each result would go to a
/// line of its own, as in gradients of windows whose unrolled copies are images. Empty if it does not pay. The
/// proposal may be illegal.
std::vector<Opt> add_writeback_buffer(KernelAnalysis& analysis, const StatementAnalysis& product,
                                      const RegisterTile& tile, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
