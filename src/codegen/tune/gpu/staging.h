// How a factor of a product is staged in shared memory: which threads copy what, and the layout of its tile.
#pragma once

#include <optional>
#include <vector>

#include "codegen/tune/gpu/bank_conflicts.h"
#include "codegen/tune/gpu/candidates.h"

namespace sinter::codegen {

/// A dim of a tile: a block of `extent` values of a range.
struct StagedDim {
  ir::UOp range;
  int level = -1;  ///< as in TileCopy::CopyDim
  int64_t extent = 1;
  RangeShare read;    ///< how threads read the dim; without a range: each thread reads all of it
  ir::UOp taps = {};  ///< of windows along `range`: the dim has their positions
};

/// The copy of `value`, or of what a STORE stores, by `threads` threads, in the layout with the fewest passes over the
/// banks and instructions to fill and to read the tile. Neighboring threads copy what is contiguous in memory. nullopt
/// if no Opt may name the value. `may_join`: dims that lie one behind another may be joined, which a ring's are not.
std::optional<TileCopy> stage_value(TuneSpace& space, ir::UOp value, const std::vector<StagedDim>& dims, int threads,
                                    bool may_join = true);

/// The same for a factor of a product on tensor cores, which warps read as matrices of 8 rows of 16 bytes.
std::optional<TileCopy> stage_matrices(TuneSpace& space, ir::UOp value, std::vector<StagedDim> dims, int threads);

/// With a second slot: each thread copies its part in one iteration of its loops. nullopt if that takes
/// more than a few registers.
std::optional<TileCopy> with_ring(TileCopy copy, const std::vector<StagedDim>& dims);

}  // namespace sinter::codegen
