// In which tasks stores that lack an outer range run, and the values that only they need.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/tile.h"

namespace sinter::codegen {

/// Outer ranges that a STORE lacks. It runs in the tasks whose blocks of all of these begin at 0. Empty: in every task.
using StoreGuard = std::vector<UOp>;

class StoreGuards {
 public:
  /// Guards of the stores of `sink` and of the reductions below them. Slots from `params` on are `tiles`.
  StoreGuards(UOp sink, std::span<const Tile> tiles, int64_t params, const LoopSchedule& schedule, FreeRanges& ranges);

  const StoreGuard& of_store(UOp store) const { return guards_.at(store.get()); }
  /// A REDUCE or SCAN has the guard that all stores using it share, else none.
  const StoreGuard& of_reduce(UOp first) const { return guards_.at(first.get()); }

 private:
  void find_tile_guards(UOp sink, std::span<const Tile> tiles, int64_t params);
  void find_reduce_guards(UOp store);

  std::unordered_map<ir::Node*, StoreGuard> guards_;
};

}  // namespace sinter::codegen
