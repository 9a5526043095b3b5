// Whether a loop of a product may be unrolled.
#pragma once

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int kMaxFullUnroll = 8;  ///< trip count up to which a loop is unrolled completely

/// Whether the innermost loop of a product, or one around unrolled loops, along `range`, may be unrolled `count` times
/// with this tile. What copies hold is counted for each range alone.
///
/// Not if a predicate of both factors depends on `range`. Such a predicate becomes the bounds of the loop
/// (loop_bounds.h); unrolled, it would be evaluated for each product. It does no harm if the edges of the rows are
/// `peeled` and the loop is unrolled completely: each copy then has a constant predicate.
///
/// Not if an operand is strided along the lanes and not `staged`. Unrolling would transpose small matrices of it in
/// registers, which is a decision of the register tile.
///
/// Not if registers do not suffice. Copies may read an element that others read in an earlier step, as windows do. The
/// element then stays in a register for both. On Zen 3 (November 2026), copies of 4 x 2 vectors under 4 x 4 windows
/// with a stride of 2, which hold 6 elements beside 10 vectors, take 0.75 of the time of a loop. On Zen 4 with AVX-512,
/// 10 x 2 vectors under 5 x 5 windows, whose steps read 10 elements beside 22 vectors, spill: 1.17 of the time of 7
/// x 2.
bool may_unroll(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp range,
                int count, bool staged, bool peeled, const runtime::Target& target);

}  // namespace sinter::codegen
