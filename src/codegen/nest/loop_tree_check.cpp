// Loop trees looked at: whether all of the statements run, where they must and in an order that they permit.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "codegen/kernel/access.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/ring.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using What = Item::What;

class Checker {
 public:
  Checker(const Statements& statements, bool ahead)
      : statements_(statements),
        ahead_(ahead),
        begun_(statements.list.size()),
        touched_(statements.list.size()),
        done_(statements.list.size(), 0),
        stood_(statements.list.size()) {}

  void walk(const std::vector<Item>& items) {
    const Item* first = nullptr;  // of the loop that follows
    for (const Item& item : items) {
      if (item.what == What::Barrier) continue;
      if (first && item.what != What::Loop) misplaced(*first);
      if (item.what == What::First) {
        first = &item;
      } else if (item.what == What::Loop) {
        fills_each_turn(item, std::exchange(first, nullptr));
        open_.push_back(&item);
        walk(item.body);
        open_.pop_back();
      } else if (item.what == What::Next) {  // a tile is filled where the next turn's elements are fetched
        if (!leaves(item, What::Put)) walk(item.body);
      } else {
        run(item);
      }
    }
    if (first) misplaced(*first);
  }
  void finish() const {
    for (size_t i = 0; i < done_.size(); ++i)
      if (done_[i] != 1) throw InternalError(fmt::format("codegen: statement {} was placed {} times", i, done_[i]));
  }

 private:
  void run(const Item& item) {
    const auto number = static_cast<size_t>(item.statement);
    const Statement& s = statements_.list[number];
    const bool stores = item.what == What::Store || item.what == What::Fetch;
    if (item.what == What::Put || (stores && (item.what == What::Fetch) != (ahead_ && filled_ahead(s, statements_))))
      throw InternalError(
          fmt::format("codegen: statement {} fills a tile with two slots in place, or another ahead", number));
    const bool inside = stores || item.what == What::Update || (s.is_scan() && item.what == What::Finish);
    const size_t depth = inside ? s.loops.size() : s.inner;
    if (open_.size() != depth || !std::equal(open_.begin(), open_.end(), s.loops.begin(), same_level))
      throw InternalError(fmt::format("codegen: statement {} stands in other loops than its own", number));
    if ((item.what == What::Update && !begun_[number]) || (item.what == What::Finish && !touched_[number]))
      throw InternalError(
          fmt::format("codegen: statement {} takes elements before it begins, or ends before it took any", number));
    if (item.what == What::Init) begun_[number] = true;
    if (inside)
      for (const Dep& d : s.deps) follows(item.statement, d);
    if (inside) touched_[number] = true;
    if (!stores && item.what != What::Finish) return;
    ++done_[number];
    stood_[number] = open_;
  }

  [[noreturn]] static void misplaced(const Item& first) {
    throw InternalError(
        fmt::format("codegen: what fills tiles for {} is not all there: before it, fetched in it, and put at its end",
                    to_string(first.level)));
  }
  /// A loop with tiles that are filled ahead: First before it, in it two Next, which fetch the same and at its end put
  /// it. All others have none.
  static void fills_each_turn(const Item& loop, const Item* first) {
    std::vector<const Item*> next;
    for (const Item& item : loop.body)
      if (item.what == What::Next) next.push_back(&item);
    if (!first && next.empty()) return;
    const auto last =
        std::find_if(loop.body.rbegin(), loop.body.rend(), [](const Item& item) { return item.what != What::Barrier; });
    if (!first || next.size() != 2 || next[1] != &*last || !fills_alike(*first, *next[0], What::Fetch) ||
        !fills_alike(*first, *next[1], What::Put) || !(first->level == loop.level))
      misplaced(first ? *first : *next[0]);
  }
  /// Whether `next` has the leaves `what` where `first` has STOREs, and all else is equal.
  static bool fills_alike(const Item& first, const Item& next, What what) {
    const auto alike = [&](const Item& a, const Item& b) {
      if (a.what == What::Store) return b.what == what && a.statement == b.statement;
      return a.what == What::Loop && b.what == What::Loop && fills_alike(a, b, what);
    };
    return first.level == next.level &&
           std::equal(first.body.begin(), first.body.end(), next.body.begin(), next.body.end(), alike);
  }
  static bool leaves(const Item& item, What what) {
    return item.has_body()
               ? std::any_of(item.body.begin(), item.body.end(), [&](const Item& i) { return leaves(i, what); })
               : item.what == what;
  }

  static bool same_level(const Item* open, const Level& level) { return open->level == level; }

  /// What a statement reads is there, and not yet overwritten: it runs in the same turn of the loops around the writer.
  void follows(int reader, const Dep& d) const {
    const Statement& writer = statements_.list[static_cast<size_t>(d.on)];
    const bool whole = d.why == Dep::Why::Value || writer.carried();
    if (whole ? !done_[static_cast<size_t>(d.on)] : !touched_[static_cast<size_t>(d.on)])
      throw InternalError(fmt::format("codegen: statement {} runs before {}, on which it depends", reader, d.on));
    const std::vector<const Item*>& there = stood_[static_cast<size_t>(d.on)];
    auto shared = [&](size_t i) { return i < open_.size() && open_[i] == there[i]; };
    if (d.why == Dep::Why::Value)
      for (size_t i = 0; i < writer.own; ++i)
        if (!shared(i))
          throw InternalError(
              fmt::format("codegen: statement {} reads {} outside of the loops around it", reader, d.on));
    if (writer.accumulates()) return;
    for (const Tile& tile : statements_.tiles) {
      if (tile.slot != slot_of(writer.node)) continue;
      for (size_t i = 0; i < there.size(); ++i) {
        auto dim = std::find_if(tile.dims.begin(), tile.dims.end(),
                                [&](const Tile::Dim& t) { return t.range == there[i]->level.range; });
        if (dim == tile.dims.end() || there[i]->level.fills) continue;
        // A loop that fills another tile passes over the range again, where only the present turn is there.
        const bool again = std::any_of(open_.begin(), open_.end(), [&](const Item* o) {
          return o->level.fills && o->level.range == there[i]->level.range && o->level.number <= there[i]->level.number;
        });
        if (again || (dim->level >= there[i]->level.number && !shared(i)))
          refuse(fmt::format("the tile p{}", tile.slot),
                 fmt::format("statement {} reads it outside of the loops in which {} fills it", reader, d.on));
      }
    }
  }

  const Statements& statements_;
  const bool ahead_;
  std::vector<const Item*> open_;
  std::vector<bool> begun_;    ///< of a REDUCE: its accumulators
  std::vector<bool> touched_;  ///< loaded what it reads, though a REDUCE may not have its result yet
  std::vector<int> done_;
  std::vector<std::vector<const Item*>> stood_;
};

}  // namespace

void verify(const std::vector<Item>& tree, const Statements& statements, Fills fills) {
  Checker checker(statements, fills == Fills::Ahead);
  checker.walk(tree);
  checker.finish();
}

}  // namespace sinter::codegen
