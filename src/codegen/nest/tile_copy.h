// Tiles that are filled ahead of their users: what a Stage asks for, and the loops that copy.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// The tile of a Stage for `value`, without its fill. Refuses (IllegalOpt) a value that has accumulators or checks, or
/// a Stage that does not cover it.
Tile stage_tile(int64_t slot, ir::UOp value, const Stage& stage, const Schedule& schedule, Ranges& ranges);

/// The loops in which a tile is filled for a user that runs in `user`: the user's own, down to the last that begins a
/// block which the tile covers, or that gives a range without a dim its value; then those that copy, in the order of
/// the tile's memory, or, where copies along another dim are transposed with the lanes, of the rows that these are read
/// from.
std::vector<Level> fill_loops(const Tile& tile, const std::vector<Level>& user, const Schedule& schedule);

/// How many of them are the user's.
size_t shared_loops(const std::vector<Level>& fill);

/// Refuses a user whose steps along the last dim do not fit the panels, or whose vectors would be torn by a swizzle.
void require_layout(const Tile& tile, const std::vector<Level>& user);

/// Elements of a row among which a swizzle exchanges pieces: as many as all banks of shared memory hold, if the row has
/// so many.
int64_t swizzle_period(int64_t row, DType dtype);

}  // namespace sinter::codegen
