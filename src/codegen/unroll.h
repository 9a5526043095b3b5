// Steps of a product's innermost loop that follow one another without a branch.
#pragma once

#include <vector>

#include "codegen/choice.h"

namespace sinter::codegen {

inline constexpr int kWholeLoop = 8;  ///< steps of a loop that all follow one another, if there are no more

/// Whether some copies of a load along `copies` read in one of `count` steps along `range` what others have read in an earlier one, as windows do.
bool meets(View& view, ir::UOp load, ir::UOp copies, int width, ir::UOp range, int count);

/// Whether `count` steps along `range`, the innermost loop of a product, may follow one another with this tile. Not where a gate of both factors
/// changes from step to step: it makes the ends of the loop (clip.h), and would be asked for each product. Nor where an operand lies across the
/// lanes and is not `staged`: small matrices of it would be transposed in registers, which is the tile's to decide. And where copies meet, such an
/// element stays in a register for both, of which there may be too few.
bool unrolls(View& view, const Work& product, const RegisterTile& tile, ir::UOp range, int count, bool staged, const runtime::Target& target);

/// With an Unroll for the innermost loop of each product's sum: fewer of its branches are taken, and the last one of a short loop is foreseen.
/// Legal if `opts` are.
std::vector<Opt> unroll_products(Choice& choice, std::vector<Opt> opts);

}  // namespace sinter::codegen
