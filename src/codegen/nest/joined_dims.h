// Dims of a TileCopy that one loop copies, because their elements lie one behind another in memory and in the tile.
#pragma once

#include "codegen/nest/tile.h"

namespace sinter::codegen {

/// The first of the copied dims that are joined with dim `last`: `last` itself if none is.
size_t first_joined(const TileCopy& copy, size_t last);

/// The values that the loop over a copied dim takes, as LoopLevel::joined_values.
int64_t joined_values(const Tile& tile, size_t dim);

/// Throws IllegalOpt unless the elements of joined dims lie one behind another: then the loop over the last of them
/// finds the others' where values beyond the end of its range would lie. `value`: what is copied.
void require_contiguous(const Tile& tile, UOp value, const LoopSchedule& schedule, FreeRanges& ranges);

}  // namespace sinter::codegen
