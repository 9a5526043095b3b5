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
using Turn = std::vector<ir::UOp>;

class Turns {
 public:
  /// Of the stores of `sink`, which `tiles` are filled for; slots from `params` on are tiles.
  Turns(ir::UOp sink, std::span<const Tile> tiles, int64_t params, const Schedule& schedule, Ranges& ranges);

  const Turn& of_store(ir::UOp store) const { return turns_.at(store.get()); }
  /// A REDUCE or SCAN that serves stores of one and the same turn only has theirs.
  const Turn& of_sum(ir::UOp first) const { return turns_.at(first.get()); }

 private:
  void find_rows(ir::UOp sink, std::span<const Tile> tiles, int64_t params);
  void find_sums(ir::UOp store);

  std::unordered_map<ir::Node*, Turn> turns_;
};

}  // namespace sinter::codegen
