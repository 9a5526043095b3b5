// Results of a product that would be stored one by one.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"

namespace sinter::codegen {

/// The Opts of a blocked product with one more loop that carries it, of a single turn: its results rest in a tile until
/// a row of them is there, and are stored in loops behind. That pays where neither the lanes nor the copies of its
/// register tile lie side by side in what it stores to, so that each result would go to a line of its own: gradients of
/// windows, whose copies are images. Empty where it does not. A proposal: whether it is legal is another question.
std::vector<Opt> add_writeback_buffer(KernelAnalysis& analysis, const StatementAnalysis& product,
                                      const RegisterTile& tile, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
