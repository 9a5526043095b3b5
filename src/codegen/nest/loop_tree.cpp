// Building the tree depth by depth: take the first statement, open its next loop, pull in whoever may share it.
#include "codegen/nest/loop_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "codegen/nest/ring.h"

namespace sinter::codegen {
namespace {

using What = Item::What;

class Builder {
 public:
  explicit Builder(Statements& statements) : all_(statements.list) {}

  std::vector<Item> build(std::vector<int> todo, size_t depth) {
    std::vector<Item> out;
    std::vector<int> moved;  // each statement is brought forward once at most
    while (!todo.empty()) {
      if (at(todo[0]).loops.size() == depth) {
        emit(out, todo[0], depth);
        todo.erase(todo.begin());
        continue;
      }
      const Level level = at(todo[0]).loops[depth];
      std::vector<int> group, rest;
      for (int t : todo) (group.empty() || joins(t, level, depth, group, rest) ? group : rest).push_back(t);
      int first = blocker(level, depth, group, rest);
      if (first >= 0 && std::find(moved.begin(), moved.end(), first) == moved.end()) {
        moved.push_back(first);
        todo.erase(std::find(todo.begin(), todo.end(), first));
        todo.insert(todo.begin(), first);
        continue;
      }
      group = with_copies(group, depth);
      // The accumulators of a REDUCE live around the outermost of the loops that are only its own.
      auto mark = [&](What what) {
        for (int t : group)
          if (at(t).accumulates() && at(t).inner == depth && !(at(t).is_scan() && what == What::Finish))
            out.push_back({what, t});
      };
      mark(What::Init);
      out.push_back({What::Loop, -1, level, build(group, depth + 1)});
      mark(What::Finish);
      todo = std::move(rest);
    }
    return out;
  }

 private:
  const Statement& at(int i) const { return all_[static_cast<size_t>(i)]; }

  void emit(std::vector<Item>& out, int t, size_t depth) const {
    if (!at(t).accumulates()) return out.push_back({What::Store, t});
    const bool alone = at(t).inner == depth;  // no loop left that is only its own
    if (alone) out.push_back({What::Init, t});
    out.push_back({What::Update, t});
    if (alone || at(t).is_scan()) out.push_back({What::Finish, t});
  }

  bool joins(int t, const Level& level, size_t depth, const std::vector<int>& group,
             const std::vector<int>& rest) const {
    const Statement& s = at(t);
    if (s.loops.size() <= depth || !(s.loops[depth] == level)) return false;
    auto in = [](const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); };
    for (const Dep& d : s.deps) {
      if (in(rest, d.on)) return false;
      if (!in(group, d.on)) continue;
      const bool outer = range_kind(level.range) == ir::AxisKind::Outer;
      if (d.why == Dep::Why::Value && at(d.on).own <= depth) return false;  // finished only after this loop
      if (d.why == Dep::Why::Memory && !outer) return false;
    }
    return true;
  }

  /// A statement that keeps another one out of the group although it could run before the group; -1 if there is none.
  int blocker(const Level& level, size_t depth, const std::vector<int>& group, const std::vector<int>& rest) const {
    auto in = [](const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); };
    for (int t : rest) {
      if (at(t).loops.size() <= depth || !(at(t).loops[depth] == level)) continue;
      // Everything in the rest below t.
      std::vector<int> needed{t};
      bool after_group = false;
      for (size_t i = 0; i < needed.size(); ++i)
        for (const Dep& d : at(needed[i]).deps) {
          after_group |= i > 0 && in(group, d.on);
          if (in(rest, d.on) && !in(needed, d.on)) needed.push_back(d.on);
        }
      if (needed.size() == 1 || after_group) continue;
      // The first of the rest, where sources stand before users; numbers do not ascend so, as copies have larger ones
      // than their users.
      return *std::find_if(rest.begin(), rest.end(), [&](int r) { return r != t && in(needed, r); });
    }
    return -1;
  }

  /// The group with its own copies of REDUCEs that it needs inside this loop, but that stand in an earlier one over the
  /// same range.
  std::vector<int> with_copies(const std::vector<int>& group, size_t depth) {
    std::vector<int> out;
    std::map<int, int> copies;
    for (int t : group) add_with_copies(t, depth, group, copies, out);
    return out;
  }
  /// Recurses on the nesting of REDUCEs only.
  void add_with_copies(int t, size_t depth, const std::vector<int>& group, std::map<int, int>& copies,
                       std::vector<int>& out) {
    for (size_t i = 0; i < at(t).deps.size(); ++i) {
      const Dep dep = at(t).deps[i];
      if (dep.why != Dep::Why::Value || at(dep.on).own <= depth ||
          std::find(group.begin(), group.end(), dep.on) != group.end())
        continue;
      auto [it, fresh] = copies.try_emplace(dep.on, static_cast<int>(all_.size()));
      if (fresh) {
        Statement copy = at(dep.on);
        all_.push_back(std::move(copy));
        for (Statement& s : all_)  // who had to wait for the one waits for the other
          for (size_t d = 0; d < s.deps.size(); ++d)
            if (s.deps[d].on == dep.on && s.deps[d].why != Dep::Why::Value)
              s.deps.push_back({it->second, s.deps[d].why});
        add_with_copies(it->second, depth, group, copies, out);
      }
      all_[static_cast<size_t>(t)].deps[i].on = it->second;
    }
    out.push_back(t);
  }

  std::vector<Statement>& all_;
};

void print(const std::vector<Item>& items, size_t indent, std::string& text) {
  constexpr std::string_view kWhat[] = {"loop",    "init",     "update",  "finish", "store",
                                        "barrier", "first of", "next of", "fetch",  "put"};
  for (const Item& item : items) {
    const std::string_view what = kWhat[static_cast<int>(item.what)];
    if (item.what == What::Barrier) {
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

std::vector<Item> make_tree(Statements& statements) {
  std::vector<int> all(statements.list.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return Builder(statements).build(std::move(all), 0);
}

bool is_legal(const Kernel& kernel, const std::vector<Opt>& opts) {
  try {
    const Schedule schedule = make_schedule(kernel, opts);
    Ranges ranges;
    Statements statements = make_statements(kernel, schedule, ranges);
    std::vector<Item> tree = make_tree(statements);
    verify(tree, statements);
    fill_ahead(tree, statements);
    return true;
  } catch (const IllegalOpt&) { return false; }
}

int only_update(const std::vector<Item>& items) {
  int only = -1;
  for (const Item& i : items) {
    const int here = i.what == Item::What::Loop ? only_update(i.body) : i.what == Item::What::Update ? i.statement : -1;
    if (here < 0 || (only >= 0 && only != here)) return -1;
    only = here;
  }
  return only;
}

std::vector<ir::UOp> ranges_of(const Item& loop) {
  std::vector<ir::UOp> ranges{loop.level.range};
  for (const Item& i : loop.body)
    if (i.what == Item::What::Loop)
      for (ir::UOp r : ranges_of(i)) ranges.push_back(r);
  return ranges;
}

std::string to_string(const std::vector<Item>& tree) {
  std::string text;
  print(tree, 0, text);
  return text;
}

}  // namespace sinter::codegen
