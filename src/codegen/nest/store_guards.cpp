// Guards of output stores from the outer ranges that they lack, then of rows from their readers, then of reductions
// from theirs.
#include "codegen/nest/store_guards.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/nest/statement.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

bool reads(UOp store, int64_t slot) {
  const std::vector<UOp> body = ir::topological(store);
  return std::ranges::any_of(body, [&](UOp n) { return n->op == Op::Load && slot_of(n) == slot; });
}

}  // namespace

StoreGuards::StoreGuards(UOp sink, std::span<const Tile> tiles, int64_t params, const LoopSchedule& schedule,
                         FreeRanges& ranges) {
  for (UOp store : sink->src) {
    if (slot_of(store) >= params) continue;
    auto lacking =
        ir::filtered<StoreGuard>(schedule.outer, [&](UOp r) { return !one_trip(r) && !ranges.depends(store, r); });
    guards_[store.get()] = std::move(lacking);
  }
  find_tile_guards(sink, tiles, params);
  for (UOp store : sink->src) find_reduce_guards(store);
}

/// A row that is read only by stores with the same guard gets that guard: in other tasks it might read what those
/// stores write. Rows precede their readers. A row that a tile fill reads gets no guard, because any task may read the
/// tile.
void StoreGuards::find_tile_guards(UOp sink, std::span<const Tile> tiles, int64_t params) {
  for (size_t i = sink->src.size(); i-- > 0;) {
    UOp row = sink->src[i];
    const int64_t slot = slot_of(row);
    if (slot < params) continue;
    const StoreGuard* guard = nullptr;
    bool differ = std::ranges::any_of(tiles, [&](const Tile& t) { return t.fill && reads(t.fill, slot); });
    for (UOp s : sink->src) {
      if (s == row || !reads(s, slot)) continue;
      const auto its = guards_.find(s.get());
      differ |= its == guards_.end() || (guard && *guard != its->second);
      if (its != guards_.end()) guard = &its->second;
    }
    StoreGuard found = differ || !guard ? StoreGuard() : *guard;
    guards_[row.get()] = std::move(found);
  }
}

void StoreGuards::find_reduce_guards(UOp store) {
  const StoreGuard& guard = guards_.at(store.get());
  for (UOp n : ir::topological(store)) {
    if (!has_accumulators(n)) continue;
    auto [it, fresh] = guards_.try_emplace(result_of(n, 0).get(), guard);
    if (!fresh && it->second != guard) it->second = {};
  }
}

}  // namespace sinter::codegen
