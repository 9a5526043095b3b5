// Tiles that are filled ahead of their users, as a TileCopy says, and the loops that fill them.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// The tile of a TileCopy for `value`, or for what a STORE stores, without its fill. Throws IllegalOpt if a value has
/// accumulators or checks, or if the TileCopy does not cover it.
Tile make_copy_tile(int64_t slot, UOp value, const TileCopy& copy, const LoopSchedule& schedule, FreeRanges& ranges);

/// The loops that fill a tile for a user with the loops `user`, or copy results to memory in place of it. First the
/// user's, down to the last that begins a block covered by the tile, or that gives its value to a range without a
/// copied dim. Then the copying loops, in the order of the tile's memory. If unrolled copies along another dim of a
/// fill without joined dims are transposed with the lanes, the loops along the source rows are innermost.
std::vector<LoopLevel> fill_loops(const Tile& tile, const std::vector<LoopLevel>& user, const LoopSchedule& schedule,
                                  FreeRanges& ranges);

/// How many of these loops are the user's.
size_t shared_loops(const std::vector<LoopLevel>& fill);

/// Throws IllegalOpt if the user's steps along the last dim do not fit the panels, or if a swizzle would split its
/// vectors.
void require_layout(const Tile& tile, const std::vector<LoopLevel>& user);

/// Whether all blocks that a dim covers have the same number of values.
bool has_whole_blocks(const LoopSchedule& schedule, const Tile::TileDim& dim);

/// Elements of a row among which a swizzle permutes pieces: what all banks of shared memory hold, or the row if that is
/// shorter, rounded down to a power of two.
int64_t swizzle_period(int64_t row, DType dtype);

}  // namespace sinter::codegen
