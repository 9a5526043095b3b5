// Cache blocking of a product: which operands are packed into tiles, the blocks of the tiles, how much a task covers.
#pragma once

#include <optional>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// TileCopy, Split, LoopOrder and TaskBlock for a product with this register tile, in addition to its Lanes and
/// Unroll: proposals, the best first, which may be illegal. None if packing does not pay. `kernel`: the kernel whose
/// values a TileCopy numbers. `lanes`: elements of a vector.
std::vector<std::vector<Opt>> block_product(const Kernel& kernel, KernelAnalysis& analysis,
                                            const StatementAnalysis& product, const RegisterTile& tile, int lanes,
                                            const runtime::Target& target);

/// A TileCopy of the whole operand along the lanes, for a product whose columns are an inner range: each task then
/// executes all columns. None if packing does not pay or the copies of all threads exceed half of the last cache.
/// `operand` receives the packed operand.
std::optional<TileCopy> pack_operand(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                     const RegisterTile& tile, int lanes, const runtime::Target& target, UOp& operand);

}  // namespace sinter::codegen
