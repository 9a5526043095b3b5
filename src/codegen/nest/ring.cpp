// Moves fills out of their loop to where they run some iterations ahead.
#include "codegen/nest/ring.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ItemKind = LoopItem::ItemKind;

class RingBuilder {
 public:
  explicit RingBuilder(const Statements& statements) : statements_(statements) {}

  void walk(std::vector<LoopItem>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind != ItemKind::Loop) continue;
      const LoopLevel level = items[i].level;
      std::vector<LoopItem>& body = items[i].body;
      std::vector<LoopItem> fills = ir::filtered(body, [&](const LoopItem& item) { return fills_ring(item, level); });
      if (fills.empty()) {
        walk(body);
        continue;
      }
      const auto place =
          std::ranges::find_if(body, [&](const LoopItem& item) { return fills_ring(item, level); }) - body.begin();
      std::erase_if(body, [&](const LoopItem& item) { return fills_ring(item, level); });
      walk(body);
      if (const int copied = async_statement(fills); copied >= 0) {
        fills = replace_stores(ItemKind::Copy, std::move(fills));
        body.insert(body.begin(), {ItemKind::FillNext, -1, level, fills});
        body.insert(body.begin(), {ItemKind::Wait, copied});
      } else {
        body.insert(body.begin() + place, {ItemKind::FillNext, -1, level, replace_stores(ItemKind::Fetch, fills)});
        body.push_back({ItemKind::FillNext, -1, level, replace_stores(ItemKind::Put, fills)});
      }
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++),
                   {ItemKind::FillFirst, -1, level, std::move(fills)});
    }
  }

 private:
  const Statement& at(int i) const { return statements_.list[i]; }

  /// Whether an item in the loop `around` only fills ring tiles whose slots rotate with that loop.
  bool fills_ring(const LoopItem& item, const LoopLevel& around) const {
    if (item.kind != ItemKind::Loop || !item.level.fills) return false;
    size_t ahead = 0, all = 0;
    count(item, around, ahead, all);
    if (ahead == 0) return false;
    if (ahead != all) refuse("slots", "a loop fills tiles of one slot and rings");
    return true;
  }
  void count(const LoopItem& item, const LoopLevel& around, size_t& ahead, size_t& all) const {
    for (const LoopItem& i : item.body) {
      if (i.kind == ItemKind::Loop) {
        count(i, around, ahead, all);
        continue;
      }
      ++all;
      const Tile* tile = ring_tile_filled_by(at(i.statement), statements_);
      if (!tile || !(tile->dims[tile->ring_dim].range == around.range) ||
          tile->dims[tile->ring_dim].level != around.number)
        continue;
      for (UOp n : body_of(at(i.statement).node))
        for (const Tile& t : statements_.tiles)
          if (n->op == Op::Load && slot_of(n) == t.slot)
            refuse(to_string(*tile->tile_copy), "it reads another tile, which is not filled ahead");
      ++ahead;
    }
  }
  /// A statement of fills that copy asynchronously; -1 if they do not. Those of one loop have equally many slots.
  int async_statement(const std::vector<LoopItem>& fills) const {
    std::vector<int> all;
    for (const LoopItem& fill : fills) list_stores(fill, all);
    const auto copy_of = [&](int s) { return *ring_tile_filled_by(at(s), statements_)->tile_copy; };
    const TileCopy first = copy_of(all[0]);
    for (const int s : all)
      if (copy_of(s).async != first.async || copy_of(s).slots != first.slots)
        refuse(to_string(copy_of(s)), "rings of one loop have slots alike");
    return first.async ? all[0] : -1;
  }
  static void list_stores(const LoopItem& item, std::vector<int>& out) {
    if (item.kind == ItemKind::Store) out.push_back(item.statement);
    for (const LoopItem& i : item.body) list_stores(i, out);
  }
  /// The same items with every Store replaced by `what`.
  static std::vector<LoopItem> replace_stores(ItemKind what, std::vector<LoopItem> items) {
    for (LoopItem& item : items) {
      if (item.kind == ItemKind::Store) item.kind = what;
      item.body = replace_stores(what, std::move(item.body));
    }
    return items;
  }

  const Statements& statements_;
};

}  // namespace

void pipeline_ring_fills(std::vector<LoopItem>& tree, const Statements& statements) {
  RingBuilder(statements).walk(tree);
}

const Tile* ring_tile_filled_by(const Statement& statement, const Statements& statements) {
  for (const Tile& t : statements.tiles)
    if (t.ring_slot_size && t.fill == statement.node) return &t;
  return nullptr;
}

}  // namespace sinter::codegen
