// A walk over the loop tree that takes fills out of their loop and puts them where they run ahead.
#include "codegen/nest/ring.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;
using What = Item::What;

class Ahead {
 public:
  explicit Ahead(const Statements& statements) : statements_(statements) {}

  void walk(std::vector<Item>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].what != What::Loop) continue;
      const Level level = items[i].level;
      std::vector<Item>& body = items[i].body;
      std::vector<Item> fills;
      for (const Item& item : body)
        if (runs_ahead(item, level)) fills.push_back(item);
      if (fills.empty()) {
        walk(body);
        continue;
      }
      const auto place =
          std::find_if(body.begin(), body.end(), [&](const Item& item) { return runs_ahead(item, level); }) -
          body.begin();
      std::erase_if(body, [&](const Item& item) { return runs_ahead(item, level); });
      walk(body);
      body.insert(body.begin() + place, {What::Next, -1, level, as(What::Fetch, fills)});
      body.push_back({What::Next, -1, level, as(What::Put, fills)});
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++), {What::First, -1, level, std::move(fills)});
    }
  }

 private:
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  /// Whether all of an item in the loop `around` fills tiles whose slots take its turns.
  bool runs_ahead(const Item& item, const Level& around) const {
    if (item.what != What::Loop || !item.level.fills) return false;
    size_t ahead = 0, all = 0;
    count(item, around, ahead, all);
    if (ahead == 0) return false;
    if (ahead != all) refuse("slots", "a loop fills tiles of one slot and of two");
    return true;
  }
  void count(const Item& item, const Level& around, size_t& ahead, size_t& all) const {
    for (const Item& i : item.body) {
      if (i.what == What::Loop) {
        count(i, around, ahead, all);
        continue;
      }
      ++all;
      const Tile* tile = filled_ahead(at(i.statement), statements_);
      if (!tile || !(tile->dims[tile->turns].range == around.range) || tile->dims[tile->turns].level != around.number)
        continue;
      for (UOp n : body_of(at(i.statement).node))
        for (const Tile& t : statements_.tiles)
          if (n->op == Op::Load && slot_of(n) == t.slot)
            refuse(to_string(*tile->staged), "it reads another tile, which does not run ahead");
      ++ahead;
    }
  }
  /// The same with other leaves.
  static std::vector<Item> as(What what, std::vector<Item> items) {
    for (Item& item : items) {
      if (item.what == What::Store) item.what = what;
      item.body = as(what, std::move(item.body));
    }
    return items;
  }

  const Statements& statements_;
};

}  // namespace

void fill_ahead(std::vector<Item>& tree, const Statements& statements) { Ahead(statements).walk(tree); }

const Tile* filled_ahead(const Statement& statement, const Statements& statements) {
  for (const Tile& t : statements.tiles)
    if (t.slot_size && t.fill == statement.node) return &t;
  return nullptr;
}

}  // namespace sinter::codegen
