// Verifier of loop trees: every statement runs, in its loops, in an order that its dependences permit.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "codegen/kernel/access.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/ring.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using ItemKind = LoopItem::ItemKind;

class LoopTreeChecker {
 public:
  LoopTreeChecker(const Statements& statements, bool pipelined)
      : statements_(statements),
        pipelined_(pipelined),
        begun_(statements.list.size()),
        touched_(statements.list.size()),
        done_(statements.list.size(), 0),
        loops_of_(statements.list.size()) {}

  void walk(const std::vector<LoopItem>& items) {
    const LoopItem* first = nullptr;  // the pending FillFirst of the next loop
    for (const LoopItem& item : items) {
      if (item.kind == ItemKind::Barrier || item.kind == ItemKind::Wait) continue;
      if (first && item.kind != ItemKind::Loop) refuse_misplaced(*first);
      if (item.kind == ItemKind::FillFirst) {
        first = &item;
      } else if (item.kind == ItemKind::Loop) {
        check_ring_fills(item, std::exchange(first, nullptr));
        open_.push_back(&item);
        walk(item.body);
        open_.pop_back();
      } else if (item.kind == ItemKind::FillNext) {  // the Fetch counts as the fill; a Put does not
        if (!has_leaf(item, ItemKind::Put)) walk(item.body);
      } else {
        check_leaf(item);
      }
    }
    if (first) refuse_misplaced(*first);
  }
  void check_all_placed() const {
    for (size_t i = 0; i < done_.size(); ++i)
      if (done_[i] != 1) throw InternalError(fmt::format("codegen: statement {} was placed {} times", i, done_[i]));
  }

 private:
  void check_leaf(const LoopItem& item) {
    const auto number = static_cast<size_t>(item.statement);
    const Statement& s = statements_.list[number];
    const bool ahead = item.kind == ItemKind::Fetch || item.kind == ItemKind::Copy;
    const bool stores = item.kind == ItemKind::Store || ahead;
    if (item.kind == ItemKind::Put || (stores && ahead != (pipelined_ && ring_tile_filled_by(s, statements_))))
      throw InternalError(
          fmt::format("codegen: statement {} fills a ring tile in place, or another tile ahead", number));
    const bool inside = stores || item.kind == ItemKind::Update || (s.is_scan() && item.kind == ItemKind::Finish);
    const size_t depth = inside || s.at_once() ? s.loops.size() : s.accumulator_depth;
    if (open_.size() != depth || !std::equal(open_.begin(), open_.end(), s.loops.begin(), same_level))
      throw InternalError(fmt::format("codegen: statement {} is in other loops than its own", number));
    if ((item.kind == ItemKind::Update && !begun_[number]) || (item.kind == ItemKind::Finish && !touched_[number]))
      throw InternalError(
          fmt::format("codegen: statement {} accumulates before its init, or finishes before it accumulated", number));
    if (item.kind == ItemKind::Init) begun_[number] = true;
    if (inside)
      for (const Dependence& d : s.deps) check_dependence(item.statement, d);
    if (inside) touched_[number] = true;
    if (!stores && item.kind != ItemKind::Finish) return;
    ++done_[number];
    loops_of_[number] = open_;
  }

  [[noreturn]] static void refuse_misplaced(const LoopItem& first) {
    throw InternalError(fmt::format(
        "codegen: the ring fills of {} are incomplete: fills before it, a fetch inside, and a put at its end",
        to_string(first.level)));
  }
  /// A loop with pipelined fills has FillFirst before it and two FillNext inside: one fetches, the one at the end puts
  /// the same statements. With asynchronous copies it begins with a Wait and then the only FillNext. Other loops have
  /// neither.
  static void check_ring_fills(const LoopItem& loop, const LoopItem* first) {
    std::vector<const LoopItem*> next;
    for (const LoopItem& item : loop.body)
      if (item.kind == ItemKind::FillNext) next.push_back(&item);
    if (!first && next.empty()) return;
    const auto begin =
        std::ranges::find_if(loop.body, [](const LoopItem& item) { return item.kind != ItemKind::Barrier; });
    if (begin != loop.body.end() && begin->kind == ItemKind::Wait) {
      const auto second =
          std::find_if(begin + 1, loop.body.end(), [](const LoopItem& item) { return item.kind != ItemKind::Barrier; });
      if (!first || next.size() != 1 || second == loop.body.end() || next[0] != &*second ||
          !same_fills(*first, *next[0], ItemKind::Copy) || !(first->level == loop.level))
        refuse_misplaced(first ? *first : *next[0]);
      return;
    }
    const auto last = std::find_if(loop.body.rbegin(), loop.body.rend(),
                                   [](const LoopItem& item) { return item.kind != ItemKind::Barrier; });
    if (!first || next.size() != 2 || next[1] != &*last || !same_fills(*first, *next[0], ItemKind::Fetch) ||
        !same_fills(*first, *next[1], ItemKind::Put) || !(first->level == loop.level))
      refuse_misplaced(first ? *first : *next[0]);
  }
  /// Whether `next` equals `first` but for leaves `what` in place of STOREs.
  static bool same_fills(const LoopItem& first, const LoopItem& next, ItemKind what) {
    const auto alike = [&](const LoopItem& a, const LoopItem& b) {
      if (a.kind == ItemKind::Store || a.kind == ItemKind::Copy) return b.kind == what && a.statement == b.statement;
      return a.kind == ItemKind::Loop && b.kind == ItemKind::Loop && same_fills(a, b, what);
    };
    return first.level == next.level && std::ranges::equal(first.body, next.body, alike);
  }
  static bool has_leaf(const LoopItem& item, ItemKind what) {
    return item.has_body() ? std::ranges::any_of(item.body, [&](const LoopItem& i) { return has_leaf(i, what); })
                           : item.kind == what;
  }

  static bool same_level(const LoopItem* open, const LoopLevel& level) { return open->level == level; }

  /// The value that a statement reads exists and is not yet overwritten: reader and writer run in the same iteration of
  /// the loops around the writer.
  void check_dependence(int reader, const Dependence& d) const {
    const Statement& writer = statements_.list[d.on];
    const bool whole = d.reason == Dependence::Reason::Value || writer.carried();
    if (whole ? !done_[d.on] : !touched_[d.on])
      throw InternalError(fmt::format("codegen: statement {} runs before {}, on which it depends", reader, d.on));
    const std::vector<const LoopItem*>& there = loops_of_[d.on];
    auto shared = [&](size_t i) { return i < open_.size() && open_[i] == there[i]; };
    if (d.reason == Dependence::Reason::Value)
      for (size_t i = 0; i < writer.own_depth; ++i)
        if (!shared(i))
          throw InternalError(
              fmt::format("codegen: statement {} reads {} outside of the loops around it", reader, d.on));
    if (writer.accumulates()) return;
    for (const Tile& tile : statements_.tiles) {
      if (tile.slot != slot_of(writer.node)) continue;
      for (size_t i = 0; i < there.size(); ++i) {
        auto dim = std::ranges::find_if(
            tile.dims, [&](const Tile::TileDim& t) { return t.block_range() == there[i]->level.range; });
        if (dim == tile.dims.end() || there[i]->level.fills) continue;
        // Inside a loop that writes the tile, a loop that copies may go through a larger block again, but the tile has
        // no more than the current iteration.
        const bool again = std::ranges::any_of(open_, [&](const LoopItem* o) {
          return o->level.fills && o->level.range == there[i]->level.range && o->level.covers < there[i]->level.number;
        });
        if (shared(i) ? again : dim->level >= there[i]->level.number)
          refuse(fmt::format("the tile p{}", tile.slot),
                 fmt::format("statement {} reads it outside of the loops in which {} fills it", reader, d.on));
      }
    }
  }

  const Statements& statements_;
  const bool pipelined_;
  std::vector<const LoopItem*> open_;
  std::vector<bool> begun_;    ///< of a REDUCE: its accumulators are initialized
  std::vector<bool> touched_;  ///< has read its operands; the result of a REDUCE may be incomplete
  std::vector<int> done_;
  std::vector<std::vector<const LoopItem*>> loops_of_;
};

}  // namespace

void verify(const std::vector<LoopItem>& tree, const Statements& statements, RingFills fills) {
  LoopTreeChecker checker(statements, fills == RingFills::Pipelined);
  checker.walk(tree);
  checker.check_all_placed();
}

}  // namespace sinter::codegen
