// Stores of outputs by the ranges they lack, then rows by their readers, then sums by theirs.
#include "codegen/nest/store_guards.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/nest/statement.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

bool reads(UOp store, int64_t slot) {
  const std::vector<UOp> body = ir::topological(store);
  return std::any_of(body.begin(), body.end(), [&](UOp n) { return n->op == Op::Load && slot_of(n) == slot; });
}

}  // namespace

Turns::Turns(UOp sink, std::span<const Tile> tiles, int64_t params, const Schedule& schedule, Ranges& ranges) {
  for (UOp store : sink->src) {
    if (slot_of(store) >= params) continue;
    Turn lacking;
    for (UOp r : schedule.outer)
      if (!one_trip(r) && !ranges.depends(store, r)) lacking.push_back(r);
    turns_[store.get()] = std::move(lacking);
  }
  find_rows(sink, tiles, params);
  for (UOp store : sink->src) find_sums(store);
}

/// A row that stores of one and the same turn only read is made there alone: elsewhere it might read what those write.
/// Rows stand before their readers, and what fills a tile may be read anywhere.
void Turns::find_rows(UOp sink, std::span<const Tile> tiles, int64_t params) {
  for (size_t i = sink->src.size(); i-- > 0;) {
    UOp row = sink->src[i];
    const int64_t slot = slot_of(row);
    if (slot < params) continue;
    const Turn* turn = nullptr;
    bool differ = std::any_of(tiles.begin(), tiles.end(), [&](const Tile& t) { return t.fill && reads(t.fill, slot); });
    for (UOp s : sink->src) {
      if (s == row || !reads(s, slot)) continue;
      const auto its = turns_.find(s.get());
      differ |= its == turns_.end() || (turn && *turn != its->second);
      if (its != turns_.end()) turn = &its->second;
    }
    Turn found = differ || !turn ? Turn() : *turn;
    turns_[row.get()] = std::move(found);
  }
}

void Turns::find_sums(UOp store) {
  const Turn& turn = turns_.at(store.get());
  for (UOp n : ir::topological(store)) {
    if (!combines(n)) continue;
    auto [it, fresh] = turns_.try_emplace(result_of(n, 0).get(), turn);
    if (!fresh && it->second != turn) it->second = {};
  }
}

}  // namespace sinter::codegen
