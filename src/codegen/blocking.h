// Cache blocks of a product: which operands are copied into tiles, for which blocks, and how much a point covers.
#pragma once

#include <optional>
#include <vector>

#include "codegen/opt.h"
#include "codegen/register_tile.h"
#include "codegen/view.h"
#include "runtime/target.h"

namespace sinter::codegen {

inline constexpr int64_t kDeepest = 2048;  ///< summed values that one block may have

/// How many results of a product share an element of `operand`.
int64_t reuse_of(View& view, const Work& product, ir::UOp operand);

/// How many matrices beside each other an operand of a product is, with vectors along `lanes`: values of the other outer ranges with which
/// it changes.
int64_t matrices_of(View& view, const Work& product, ir::UOp operand, ir::UOp lanes);

/// Whether a tile of an operand would hold each element of memory several times, as one of windows does, or of what is repeated.
bool overlaps(View& view, ir::UOp operand);

/// Whether a load of a product is rather copied into a tile first, when its vectors lie along `lanes`: its elements are not side by
/// side there, enough results share each of them, and they are no windows that overlap.
bool worth_packing(View& view, const Work& product, ir::UOp load, ir::UOp lanes);

/// Where a Stage finds a value: its place among the kernel's nodes; -1 for one that it may not hold, or that the kernel lacks.
int number_of(const Kernel& kernel, ir::UOp value);

/// Stage, Split, Order and Block for a product with this register tile, beside the Lanes and Unroll that it has; empty where its
/// operands are best read as they lie. Proposals: whether they are legal is another question.
/// `kernel`: whose values Stages number. `lanes`: elements of a vector.
std::vector<Opt> block_product(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile, int lanes,
                               const runtime::Target& target);

/// A Stage for the operand along the lanes of a product whose columns are an inner range, so that each point goes through all of them:
/// the whole operand, if it is worth it and that of each thread fits the last cache. `operand`: receives it.
std::optional<Stage> stage_operand(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile, int lanes,
                                   const runtime::Target& target, ir::UOp& operand);

}  // namespace sinter::codegen
