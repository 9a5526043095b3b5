// Loads and stores as a warp issues them: 32 addresses, the sectors and banks that they touch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codegen/nest/tile.h"
#include "codegen/tune/gpu/thread_loop.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

/// Of one access of a thread.
struct AccessWidth {
  int64_t bytes = 4;   ///< of an element
  int64_t vector = 1;  ///< adjacent elements
};

struct WarpRequest {
  double passes = 1;   ///< over the banks of shared memory or L1
  double sectors = 1;  ///< of memory
};

/// The element at an offset where ranges have these values; nullopt if other numbers decide it as well.
std::optional<int64_t> element_at(const ir::LinearExpr& offset, const std::function<int64_t(UOp)>& value_of_range);

/// A request to memory by the first warp of a block of `threads`; the mean over iterations that begin at `starts`,
/// bytes.
WarpRequest request_of(const ir::LinearExpr& offset, const std::vector<ThreadLoop>& loops, int threads,
                       AccessWidth width, std::span<const int64_t> starts);
/// The same to a tile.
WarpRequest request_of(const Tile& tile, const std::vector<ThreadLoop>& loops, int threads, AccessWidth width);

}  // namespace sinter::codegen
