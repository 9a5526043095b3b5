// Prefetch of the next tile's rows, for products whose operands are not in the cache.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A Prefetch for each operand of a product that does not depend on the lanes and whose rows are far apart. The rows
/// of the next tile are prefetched while a tile is summed: they begin at addresses that hardware does not predict.
/// None if the operands nearly fit the second cache, if the tile has no load slots to spare, or if the rows of both
/// tiles would fill their sets of the first cache. On Zen 1, with 8 ways, a product of 1024 whose second operand lies
/// in panels of 64 columns takes 0.84 of the time without prefetch. The proposals may be illegal.
std::vector<Opt> prefetch_tile_rows(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                    const RegisterTile& tile, const runtime::Target& target);

}  // namespace sinter::codegen
