// Memory between the loops of a kernel, for one task: of a thread on a CPU, of a block on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/loopschedule/loop_schedule.h"

namespace sinter::codegen {

/// In the IR a Param with number `slot`, above those of the kernel, stands for a tile. It has a dim for every range
/// that its content depends on, so that a LOAD from it depends on the same ranges. Dims of extent 1 take no memory.
/// A dim of windows has a range of positions, and a LOAD the sum of the ranges that give the position.
struct Tile {
  struct TileDim {
    UOp range;
    int level = -1;                     ///< positions are relative to this level's block; -1: to the task's first value
    int64_t stored_extent = 1;          ///< positions that are stored
    int64_t stride = 0;                 ///< in elements
    std::optional<Window> window = {};  ///< of positions: what they are computed from
    /// The range whose loop `level` is meant.
    UOp block_range() const { return window ? window->along : range; }
    /// Elements between neighbors along a range, for the fill or a user.
    int64_t stride_along(UOp r) const {
      if (r == range) return stride;
      if (!window) return 0;
      return r == window->along ? stride * window->step : r == window->taps ? stride * window->dilation : 0;
    }
    friend bool operator==(const TileDim&, const TileDim&) = default;
  };
  int64_t slot = 0;
  DType dtype = DType::Void;
  std::vector<TileDim> dims;
  int64_t size = 0;  ///< in elements
  // For a tile that is copied (codegen/nest/tile_copy.h):
  std::optional<TileCopy> tile_copy = {};
  int64_t panel_stride = 0;    ///< from one panel of the last dim to the next; `stride` holds within a panel
  int64_t ring_slot_size = 0;  ///< of a ring: elements per ring slot
  size_t ring_dim = 0;         ///< the dim whose blocks rotate through the ring slots
  int64_t swizzle_period = 0;  ///< swizzled: elements of a row within which pieces are permuted
  UOp fill = {};   ///< the STORE that fills it ahead of its users; null: results, which are copied to memory
  UOp zeros = {};  ///< a condition on its readers: where it is false they read +0. Null: unknown
};

/// Elements that a tile may hold at most. Excludes symbolic bounds and whole tensors.
inline constexpr int64_t kLargestTile = int64_t{1} << 22;

/// A range that a tile's value depends on, and how the loops around the value run over it.
struct TileRange {
  UOp range;
  int level = -1;     ///< the loop whose block the tile covers, as in Tile::TileDim
  int64_t width = 1;  ///< values in one iteration of the innermost loop
  bool lanes = false;
};

/// The tile of a value. Ranges with lanes are innermost. `pad`: unused elements after each row of the innermost dim.
Tile make_tile(int64_t slot, DType dtype, const std::vector<TileRange>& ranges, const LoopSchedule& schedule,
               int pad = 0);

/// The Param that stands for a tile, and its indices: the ranges themselves.
UOp param_of(ir::Graph& g, const Tile& tile);
std::vector<UOp> indices_of(const Tile& tile);
/// The indices where a user reads: in place of a range of positions, their sum.
std::vector<UOp> user_indices_of(ir::Graph& g, const Tile& tile);

/// How a warp can load a tile as matrices of 8 rows of 16 bytes: along which of the two ranges rows lie. Null if rows
/// do not begin at 16 bytes, or do not lie along `depth`, which is summed, where only 16-bit elements can be
/// transposed. Float32 elements are rounded one by one.
UOp matrix_rows(const Tile& tile, UOp across, UOp depth);

/// In: a kernel, with the Materialize and TileCopy Opts of its schedule. Out: the sink in which all users of such a
/// value load it from a tile. A materialized value is stored by the sink, before its first user, as are results that
/// are copied to memory. The STORE of a TileCopy of another value is Tile::fill. Appends to `tiles`. Throws IllegalOpt.
UOp insert_tiles(const Kernel& kernel, const LoopSchedule& schedule, std::vector<Tile>& tiles);

}  // namespace sinter::codegen
