// Products whose operands are not in the cache: which rows are asked for before they are needed.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A Prefetch for each operand of a product that no lane moves and whose rows lie far from each other: while a tile
/// sums, the next one's rows are asked for, which begin at places that no core foresees. None where the operands fit
/// the second cache more or less, where the tile has no loads to spare, or where both tiles' rows would fill their sets
/// of the first cache: on Zen 1, with eight lines in a set, a product of 1024 whose second operand lies in panels of 64
/// columns takes 0.84 / 0.79 of the time without. Proposals for a product with this register tile: whether they are
/// legal is another question.
std::vector<Opt> prefetch_tile_rows(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                    const RegisterTile& tile, const runtime::Target& target);

}  // namespace sinter::codegen
