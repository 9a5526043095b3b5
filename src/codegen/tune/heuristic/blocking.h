// Cache blocks of a product: which operands are copied into tiles, for which blocks, and how much a point covers.
#pragma once

#include <optional>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// TileCopy, Split, LoopOrder and TaskBlock for a product with this register tile, beside the Lanes and Unroll that it
/// has; empty where its operands are best read as they lie. Proposals: whether they are legal is another question.
/// `kernel`: whose values Stages number. `lanes`: elements of a vector.
std::vector<Opt> block_product(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                               const RegisterTile& tile, int lanes, const runtime::Target& target);

/// A TileCopy for the operand along the lanes of a product whose columns are an inner range, so that each point goes
/// through all of them: the whole operand, if it is worth it and that of each thread fits the last cache. `operand`:
/// receives it.
std::optional<TileCopy> pack_operand(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                     const RegisterTile& tile, int lanes, const runtime::Target& target,
                                     ir::UOp& operand);

}  // namespace sinter::codegen
