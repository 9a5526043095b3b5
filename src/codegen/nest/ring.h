// Tiles with two slots: the next block is fetched from memory while the threads use the present one.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// In: a loop tree that has been verified. Out: the same in which each tile with two slots is filled before the loop
/// over its blocks for the first turn, and inside for the next one: fetched where it was filled, put into the other
/// slot when all of the turn is done. So one barrier is enough between a turn and the next. Throws IllegalOpt where a
/// fill cannot run ahead.
void pipeline_ring_fills(std::vector<LoopItem>& tree, const Statements& statements);

/// The tile with two slots that a statement fills; null: none.
const Tile* ring_tile_filled_by(const Statement& statement, const Statements& statements);

}  // namespace sinter::codegen
