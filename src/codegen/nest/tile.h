// Memory of one point of the launch, of a thread on a CPU, of a block on a GPU: what a kernel keeps between its loops.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/loopschedule/loop_schedule.h"

namespace sinter::codegen {

/// In the IR a Param with number `slot`, above those of the kernel, stands for a tile. It has a dim for every range
/// that its content depends on, so that a LOAD from it depends on them too; only some of them are laid out in memory.
struct Tile {
  struct TileDim {
    ir::UOp range;
    int level = -1;      ///< positions count from where this loop's block begins; -1: from the first value of the point
    int64_t extent = 1;  ///< positions that are kept
    int64_t stride = 0;  ///< in elements
  };
  int64_t slot = 0;
  DType dtype = DType::Void;
  std::vector<TileDim> dims;
  int64_t size = 0;  ///< in elements
  // Of one that is filled ahead of its users (codegen/nest/tile_copy.h):
  std::optional<TileCopy> tile_copy = {};
  int64_t panel_stride = 0;    ///< from one panel of the last dim to the next; `stride` holds within a panel
  int64_t ring_slot_size = 0;  ///< of one with two slots: elements of one
  size_t ring_dim = 0;         ///< the dim whose blocks take these in turn
  int64_t swizzle_period = 0;  ///< of a swizzle: within so many elements of a row its pieces change places
  ir::UOp fill = {};           ///< the STORE that fills it
};

/// Elements that a tile may hold at most: what a symbolic bound or a whole tensor would make of it is no tile.
inline constexpr int64_t kLargestTile = int64_t{1} << 22;

/// The tile of a value that depends on `ranges`. `levels`: per range the loop whose block the tile covers, as in
/// Tile::TileDim. Ranges with lanes lie innermost.
Tile make_tile(int64_t slot, DType dtype, const std::vector<ir::UOp>& ranges, const std::vector<int>& levels,
               const LoopSchedule& schedule);

/// The Param that stands for a tile, and its index: the ranges themselves.
ir::UOp param_of(ir::Graph& g, const Tile& tile);
std::vector<ir::UOp> indices_of(const Tile& tile);

/// In: a kernel, the Rows and Stages of its schedule. Out: the sink in which each of these values is loaded from a tile
/// by all its users. Rows are stored there by the sink, before their first user; of a TileCopy the tile has the STORE.
/// The tiles are added to `tiles`. Throws IllegalOpt.
ir::UOp insert_tiles(const Kernel& kernel, const LoopSchedule& schedule, std::vector<Tile>& tiles);

}  // namespace sinter::codegen
