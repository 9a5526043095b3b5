// A skinny product, or a reduction, over an operand in memory: loops that read it in memory order.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Unroll, Split, TaskBlock and LoopOrder for a product or a reduction with this register tile of `lanes` lanes. They
/// replace the unrolled copies of the tile. The reduced range becomes an outer loop over a few rows at a time. The
/// blocks of a longer reduction run around it, one after the other. The accumulators of a block of columns stay in
/// cache. If several results use an element, the rows pass under a register tile of their own.
///
/// Empty if no operand is contiguous along the lanes with one row per reduced value, if rows are too short for the
/// threads that share them, or if the operand has enough reuse to be packed. The proposals may be illegal.
std::vector<Opt> stream_product(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                                int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
