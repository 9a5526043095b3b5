// Builds the tree depth by depth: take the first statement, open its next loop, add every statement that may share it.
#include "codegen/nest/loop_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "codegen/nest/ring.h"
#include "ir/contains.h"

namespace sinter::codegen {
namespace {

using ItemKind = LoopItem::ItemKind;

class LoopTreeBuilder {
 public:
  explicit LoopTreeBuilder(Statements& statements) : all_(statements.list) {}

  std::vector<LoopItem> build(std::vector<int> todo, size_t depth) {
    std::vector<LoopItem> out;
    std::vector<int> moved;  // each statement is moved to the front at most once
    while (!todo.empty()) {
      if (at(todo[0]).loops.size() == depth) {
        emit(out, todo[0], depth);
        todo.erase(todo.begin());
        continue;
      }
      const LoopLevel level = at(todo[0]).loops[depth];
      std::vector<int> group, rest, held;
      for (int early = 0; early >= 0; held.push_back(early)) {
        group.clear(), rest.clear();
        for (int t : todo)
          (group.empty() || (!in(held, t) && joins(t, level, depth, group, rest)) ? group : rest).push_back(t);
        early = overwrites_early(depth, group, rest);
      }
      int first = blocker(level, depth, group, rest);
      if (first >= 0 && !ir::contains(moved, first)) {
        moved.push_back(first);
        todo.erase(std::ranges::find(todo, first));
        todo.insert(todo.begin(), first);
        continue;
      }
      group = with_duplicates(group, depth);
      // Accumulators of a REDUCE live across the loops from `accumulator_depth` on, which are all its own.
      auto mark = [&](ItemKind what) {
        for (int t : group)
          if (at(t).accumulates() && at(t).accumulator_depth == depth && !at(t).at_once() &&
              !(at(t).is_scan() && what == ItemKind::Finish))
            out.push_back({what, t});
      };
      mark(ItemKind::Init);
      out.push_back({ItemKind::Loop, -1, level, build(group, depth + 1)});
      mark(ItemKind::Finish);
      todo = std::move(rest);
    }
    return out;
  }

 private:
  const Statement& at(int i) const { return all_[i]; }
  static bool in(const std::vector<int>& list, int x) { return ir::contains(list, x); }

  void emit(std::vector<LoopItem>& out, int t, size_t depth) const {
    if (!at(t).accumulates()) return out.push_back({ItemKind::Store, t});
    const bool alone = at(t).accumulator_depth == depth || at(t).at_once();  // no further loop of its own
    if (alone) out.push_back({ItemKind::Init, t});
    out.push_back({ItemKind::Update, t});
    if (alone || at(t).is_scan()) out.push_back({ItemKind::Finish, t});
  }

  bool joins(int t, const LoopLevel& level, size_t depth, const std::vector<int>& group,
             const std::vector<int>& rest) const {
    const Statement& s = at(t);
    if (s.loops.size() <= depth || !(s.loops[depth] == level)) return false;
    for (const Dependence& d : s.deps) {
      if (in(rest, d.on)) return false;
      if (!in(group, d.on)) continue;
      const bool outer = range_kind(level.range) == AxisKind::Outer;
      if (d.reason == Dependence::Reason::Value && at(d.on).own_depth <= depth && !at(d.on).at_once())
        return false;  // complete only after this loop
      if (d.reason == Dependence::Reason::Memory && !outer) return false;
    }
    return true;
  }

  /// A statement that keeps another one out of the group although it could run before the group; -1 if there is none.
  int blocker(const LoopLevel& level, size_t depth, const std::vector<int>& group, const std::vector<int>& rest) const {
    for (int t : rest) {
      if (at(t).loops.size() <= depth || !(at(t).loops[depth] == level)) continue;
      // `t` and what it needs from `rest`.
      std::vector<int> needed{t};
      bool after_group = false;
      for (size_t i = 0; i < needed.size(); ++i)
        for (const Dependence& d : at(needed[i]).deps) {
          after_group |= i > 0 && in(group, d.on);
          if (in(rest, d.on) && !in(needed, d.on)) needed.push_back(d.on);
        }
      if (needed.size() == 1 || after_group) continue;
      // The first one in `rest`, where sources precede users. Statement numbers do not give that order: duplicates have
      // larger numbers than their users.
      return *std::ranges::find_if(rest, [&](int r) { return r != t && in(needed, r); });
    }
    return -1;
  }

  /// A statement of the group, not its first, that overwrites what a later duplicate of a REDUCE would read: one that
  /// waits for the REDUCE, of which statements of `rest` need a duplicate (with_duplicates). -1 if there is none.
  int overwrites_early(size_t depth, const std::vector<int>& group, const std::vector<int>& rest) const {
    std::vector<int> again;  // REDUCEs that `rest` needs in another loop than this one
    auto add = [&](int user) {
      for (const Dependence& d : at(user).deps)
        if (d.reason == Dependence::Reason::Value && at(d.on).own_depth > depth && !in(rest, d.on) && !in(again, d.on))
          again.push_back(d.on);
    };
    for (int r : rest) add(r);
    for (size_t i = 0; i < again.size(); ++i) add(again[i]);
    for (size_t i = 1; i < group.size(); ++i)
      for (const Dependence& d : at(group[i]).deps)
        if (d.reason != Dependence::Reason::Value && in(again, d.on)) return group[i];
    return -1;
  }

  /// The group, with duplicates of REDUCEs that it needs inside this loop but that stand in an earlier loop over the
  /// same range.
  std::vector<int> with_duplicates(const std::vector<int>& group, size_t depth) {
    std::vector<int> out;
    std::map<int, int> copies;
    for (int t : group) add_with_duplicates(t, depth, group, copies, out);
    return out;
  }
  /// Recursion depth: the nesting of REDUCEs.
  void add_with_duplicates(int t, size_t depth, const std::vector<int>& group, std::map<int, int>& copies,
                           std::vector<int>& out) {
    for (size_t i = 0; i < at(t).deps.size(); ++i) {
      const Dependence dep = at(t).deps[i];
      if (dep.reason != Dependence::Reason::Value || at(dep.on).own_depth <= depth || ir::contains(group, dep.on))
        continue;
      auto [it, fresh] = copies.try_emplace(dep.on, static_cast<int>(all_.size()));
      if (fresh) {
        Statement copy = at(dep.on);
        all_.push_back(std::move(copy));
        for (Statement& s : all_)  // who waits for the original waits for the copy
          for (size_t d = 0; d < s.deps.size(); ++d)
            if (s.deps[d].on == dep.on && s.deps[d].reason != Dependence::Reason::Value)
              s.deps.push_back({it->second, s.deps[d].reason});
        add_with_duplicates(it->second, depth, group, copies, out);
      }
      all_[t].deps[i].on = it->second;
    }
    out.push_back(t);
  }

  std::vector<Statement>& all_;
};

void print(const std::vector<LoopItem>& items, size_t indent, std::string& text) {
  constexpr std::string_view kKindNames[] = {"loop",     "init",    "update", "finish", "store", "barrier",
                                             "first of", "next of", "fetch",  "put",    "copy",  "wait"};
  for (const LoopItem& item : items) {
    const std::string_view what = kKindNames[static_cast<int>(item.kind)];
    if (item.kind == ItemKind::Barrier) {
      text += fmt::format("{:{}}{}\n", "", indent, what);
      continue;
    }
    if (!item.has_body()) {
      text += fmt::format("{:{}}{} {}\n", "", indent, what, item.statement);
      continue;
    }
    text += fmt::format("{:{}}{} {}\n", "", indent, what, to_string(item.level));
    print(item.body, indent + 2, text);
  }
}

}  // namespace

std::vector<LoopItem> make_loop_tree(Statements& statements) {
  std::vector<int> all(statements.list.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return LoopTreeBuilder(statements).build(std::move(all), 0);
}

LoopNest make_loop_nest(const Kernel& kernel, const std::vector<Opt>& opts) {
  LoopNest nest{make_loop_schedule(kernel, opts), {}, {}, {}};
  nest.statements = make_statements(kernel, nest.schedule, nest.ranges);
  nest.tree = make_loop_tree(nest.statements);
  verify(nest.tree, nest.statements);
  pipeline_ring_fills(nest.tree, nest.statements);
  return nest;
}

bool is_legal(const Kernel& kernel, const std::vector<Opt>& opts) {
  try {
    make_loop_nest(kernel, opts);
    return true;
  } catch (const IllegalOpt&) { return false; }
}

int only_reduce(const std::vector<LoopItem>& items) {
  int only = -1;
  for (const LoopItem& i : items) {
    const int here = i.kind == LoopItem::ItemKind::Loop     ? only_reduce(i.body)
                     : i.kind == LoopItem::ItemKind::Update ? i.statement
                                                            : -1;
    if (here < 0 || (only >= 0 && only != here)) return -1;
    only = here;
  }
  return only;
}

std::vector<int> sums_over(UOp range, const std::vector<LoopItem>& items, const Statements& statements) {
  std::vector<int> sums;
  for (const LoopItem& item : items) {
    for (int inside : sums_over(range, item.body, statements)) sums.push_back(inside);
    if (item.kind != ItemKind::Update) continue;
    const UOp node = statements.list[static_cast<size_t>(item.statement)].node;
    if (const std::vector<UOp> own = ranges_of(node); !node->reduction().tree.mma && ir::contains(own, range))
      sums.push_back(item.statement);
  }
  return sums;
}

std::vector<UOp> ranges_of(const LoopItem& loop) {
  std::vector<UOp> ranges{loop.level.range};
  for (const LoopItem& i : loop.body)
    if (i.kind == LoopItem::ItemKind::Loop)
      for (UOp r : ranges_of(i)) ranges.push_back(r);
  return ranges;
}

std::string to_string(const std::vector<LoopItem>& tree) {
  std::string text;
  print(tree, 0, text);
  return text;
}

}  // namespace sinter::codegen
