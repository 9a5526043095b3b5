// A skinny product, or a sum, over an operand that comes from memory: how to go through it in the order in which it
// lies.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Unroll, Split, TaskBlock and LoopOrder for a product or a sum with this register tile, of so many lanes, in place of
/// its copies; empty where no operand lies along the tile's lanes, row after row of it for each summed value, where
/// rows are too short for the threads that share them, or where enough results share it to copy it into tiles. What is
/// summed stands outside then, some rows at a time, the blocks of a longer sum one after the other around it, and the
/// sums of a block of columns rest in cache. Where several results share an element those rows pass under a register
/// tile of its own. Proposals: whether they are legal is another question.
std::vector<Opt> stream_product(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                                int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
