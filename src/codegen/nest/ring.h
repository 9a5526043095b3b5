// Software pipelining of tiles with several slots: the next blocks are fetched while threads use the current one.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// In: a verified loop tree. Out: the same with pipelined ring tiles. Such a tile is filled for the first iteration
/// before the loop over its blocks, and for the next iteration inside the loop: fetched where the fill stood, put into
/// the other slot at the end of the body. Asynchronous copies run as many blocks ahead as there are slots, less one: a
/// slot is filled again right after all threads have left it. So one barrier per iteration is enough. Throws IllegalOpt
/// if a fill cannot run ahead.
void pipeline_ring_fills(std::vector<LoopItem>& tree, const Statements& statements);

/// The ring tile that a statement fills; null: none.
const Tile* ring_tile_filled_by(const Statement& statement, const Statements& statements);

}  // namespace sinter::codegen
