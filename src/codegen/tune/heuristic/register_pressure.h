// Which steps of a product's innermost loop may follow one another without a branch.
#pragma once

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int kMaxFullUnroll = 8;  ///< steps of a loop that all follow one another, if there are no more

/// Whether `count` steps along `range`, the innermost loop of a product, may follow one another with this tile. Not
/// where a gate of both factors changes from step to step: it makes the ends of the loop (loop_bounds.h), and would be
/// asked for each product; but where it changes with the rows too, whose edges are `peeled`, each step and copy knows
/// its answer. Nor where an operand lies across the lanes and is not `staged`: small matrices of it would be transposed
/// in registers, which is the tile's to decide. And where copies may read in one step what others have read in an
/// earlier one, as windows do, such an element stays in a register for both, of which there may be too few.
bool may_unroll(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, ir::UOp range,
                int count, bool staged, bool peeled, const runtime::Target& target);

}  // namespace sinter::codegen
