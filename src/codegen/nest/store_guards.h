// Where stores that lack an outer range run, and what only they need.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/tile.h"

namespace sinter::codegen {

/// Where a STORE that lacks outer ranges runs: in the points whose blocks of these begin at 0. Empty: in all.
using StoreGuard = std::vector<ir::UOp>;

class StoreGuards {
 public:
  /// Of the stores of `sink`, which `tiles` are filled for; slots from `params` on are tiles.
  StoreGuards(ir::UOp sink, std::span<const Tile> tiles, int64_t params, const LoopSchedule& schedule,
              FreeRanges& ranges);

  const StoreGuard& of_store(ir::UOp store) const { return guards_.at(store.get()); }
  /// A REDUCE or SCAN that serves stores of one and the same turn only has theirs.
  const StoreGuard& of_reduce(ir::UOp first) const { return guards_.at(first.get()); }

 private:
  void find_tile_guards(ir::UOp sink, std::span<const Tile> tiles, int64_t params);
  void find_reduce_guards(ir::UOp store);

  std::unordered_map<ir::Node*, StoreGuard> guards_;
};

}  // namespace sinter::codegen
