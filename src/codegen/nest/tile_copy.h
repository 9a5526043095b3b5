// Tiles that are filled ahead of their users: what a TileCopy asks for, and the loops that copy.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// The tile of a TileCopy for `value`, without its fill. Refuses (IllegalOpt) a value that has accumulators or checks,
/// or a TileCopy that does not cover it.
Tile make_copy_tile(int64_t slot, ir::UOp value, const TileCopy& stage, const LoopSchedule& schedule,
                    FreeRanges& ranges);

/// The loops in which a tile is filled for a user that runs in `user`: the user's own, down to the last that begins a
/// block which the tile covers, or that gives a range without a dim its value; then those that copy, in the order of
/// the tile's memory, or, where copies along another dim are transposed with the lanes, of the rows that these are read
/// from.
std::vector<LoopLevel> fill_loops(const Tile& tile, const std::vector<LoopLevel>& user, const LoopSchedule& schedule);

/// How many of them are the user's.
size_t shared_loops(const std::vector<LoopLevel>& fill);

/// Refuses a user whose steps along the last dim do not fit the panels, or whose vectors would be torn by a swizzle.
void require_layout(const Tile& tile, const std::vector<LoopLevel>& user);

/// Elements of a row among which a swizzle exchanges pieces: as many as all banks of shared memory hold, if the row has
/// so many.
int64_t swizzle_period(int64_t row, DType dtype);

}  // namespace sinter::codegen
