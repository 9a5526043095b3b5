// Barriers: a walk that remembers which statements have touched memory since the last one.
#include "codegen/nest/thread_digits.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "codegen/kernel/access.h"
#include "codegen/nest/ring.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using What = Item::What;

class Planner {
 public:
  Planner(const Statements& statements, const Schedule& schedule)
      : list_(statements.list), schedule_(schedule), threads_(schedule.threads) {
    for (size_t s = 0; s < list_.size(); ++s) {
      if (list_[s].carried() && !whole_block(list_[s])) clash(s, s);
      for (const Dep& d : list_[s].deps) {
        const auto on = static_cast<size_t>(d.on);
        const bool memory = d.why != Dep::Why::Value || list_[on].carried();
        if (!memory || (d.why != Dep::Why::Memory && own_elements(list_[on], list_[s]))) continue;
        clash(on, s, filled_ahead(list_[on], statements));
      }
    }
  }

  /// Which slot of a tile with two a statement has touched, seen from the present turn of the loop that these take in
  /// turn.
  enum class Slot : uint8_t { Present, Next, Unknown };
  using Touched = std::set<std::pair<size_t, Slot>>;

  /// `touched`: by statements since the last barrier.
  void plan(std::vector<Item>& items, Touched& touched) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].what == What::Barrier) {
        touched.clear();
        continue;
      }
      // The end of a turn meets the next one in a loop of slots, whose barrier serves the first turn too.
      const bool slots = items[i].what == What::Loop && has_next(items[i]);
      if (!slots && meets(items[i], touched)) {
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++), {What::Barrier});
        touched.clear();
      }
      if (!items[i].has_body()) {
        if (touches(items[i])) touched.emplace(static_cast<size_t>(items[i].statement), slot_at(items[i]));
        continue;
      }
      const Touched before = touched;  // it may make no turn
      plan(items[i].body, touched);
      if (items[i].what == What::Loop && !single(items[i].level)) {  // what the end of a turn leaves for the next
        if (slots)
          touched = renamed(touched, [](Slot s) {
            return s == Slot::Present ? Slot::Next : s == Slot::Next ? Slot::Present : s;
          });
        plan(items[i].body, touched);
      }
      if (slots) touched = renamed(touched, [](Slot) { return Slot::Unknown; });
      touched.insert(before.begin(), before.end());
    }
  }

 private:
  /// Whether a point makes one turn of the loop at most.
  bool single(const Level& l) const {
    const Axis& a = schedule_.of(l.range);
    if (a.steps.empty() && a.outer() && a.block <= l.width()) return true;
    return a.steps.empty() && a.size && a.size <= l.width();
  }

  /// `slots`: they do only where both touch the same slot of a tile.
  void clash(size_t a, size_t b, bool slots = false) {
    for (const auto& pair : {std::pair(a, b), std::pair(b, a)})
      if (auto [it, fresh] = clashes_.emplace(pair, slots); !fresh) it->second &= slots;
  }
  static Slot slot_at(const Item& item) { return item.what == What::Put ? Slot::Next : Slot::Present; }
  static bool has_next(const Item& loop) {
    return std::any_of(loop.body.begin(), loop.body.end(), [](const Item& i) { return i.what == What::Next; });
  }
  template <class F>
  static Touched renamed(const Touched& touched, F f) {
    Touched made;
    for (const auto& [statement, slot] : touched) made.emplace(statement, f(slot));
    return made;
  }
  /// The loops in whose turns threads touch different memory: for a sum these are also its own, unless it keeps
  /// accumulators there.
  static std::vector<Level> spread(const Statement& s) {
    std::vector<Level> all = s.shared;
    if (s.is_reduce() && !s.carried())
      std::copy_if(s.loops.begin() + static_cast<std::ptrdiff_t>(s.inner), s.loops.end(), std::back_inserter(all),
                   [](const Level& l) { return l.threads > 1; });
    return all;
  }
  /// Whether no two threads touch the same memory.
  bool whole_block(const Statement& s) const {
    int all = 1;
    for (const Level& l : spread(s)) all *= l.threads;
    return all == threads_;
  }
  /// Whether the same thread takes the same element in both.
  bool own_elements(const Statement& a, const Statement& b) const {
    auto shares = [](const Statement& s) {
      std::vector<std::tuple<int, int, int, int>> all;
      for (const Level& l : spread(s)) all.emplace_back(range_id(l.range), l.threads, l.thread_stride, l.lanes);
      std::sort(all.begin(), all.end());
      return all;
    };
    return whole_block(a) && whole_block(b) && shares(a) == shares(b);
  }

  /// Whether a leaf touches memory of the kernel that threads share: not where accumulators begin and end that are in
  /// registers, nor where what no statement changes is fetched.
  bool touches(const Item& item) const {
    if (item.what == What::Barrier || item.what == What::Fetch) return false;
    const Statement& s = list_[static_cast<size_t>(item.statement)];
    return !(item.what == What::Init || item.what == What::Finish) || !s.is_reduce() || s.carried();
  }
  bool meets(const Item& item, const Touched& touched) const {
    if (item.has_body())
      return std::any_of(item.body.begin(), item.body.end(), [&](const Item& i) { return meets(i, touched); });
    if (!touches(item)) return false;
    const auto s = static_cast<size_t>(item.statement);
    return std::any_of(touched.begin(), touched.end(), [&](const auto& before) {
      const auto [t, slot] = before;
      const auto it = clashes_.find({t, s});
      if (it == clashes_.end() || (it->second && slot != Slot::Unknown && slot != slot_at(item))) return false;
      // A carried sum loads what lies in its home where it begins, and stores there where it ends.
      return t != s || item.what == What::Init || item.what == What::Finish;
    });
  }

  const std::vector<Statement>& list_;
  const Schedule& schedule_;
  int threads_;
  std::map<std::pair<size_t, size_t>, bool> clashes_;  ///< whether by slots only
};

int64_t barriers(const std::vector<Item>& items) {
  int64_t count = 0;
  for (const Item& item : items) count += item.what == What::Barrier ? 1 : barriers(item.body);
  return count;
}

}  // namespace

Id digit(Emitter& emit, int stride, int count) {
  Inst inst{Code::Thread, {DType::Index, 1}, {}};
  inst.imm = stride;
  inst.number = ir::Scalar::of(DType::Index, count);
  return emit.value(std::move(inst));
}

Id leads(Emitter& emit, const Statement& statement, int threads) {
  std::vector<std::pair<int, int>> used;  // stride and count
  for (const Level& l : statement.shared) used.emplace_back(l.thread_stride, l.threads);
  std::sort(used.begin(), used.end());
  used.emplace_back(threads, 1);
  Id ok = kNone;
  int from = 1;
  for (auto [stride, count] : used) {
    if (stride > from)
      ok = emit.both(ok, emit.alu(Op::Eq, {DType::Bool, 1}, {digit(emit, from, stride / from), emit.number(0)}));
    from = stride * count;
  }
  return ok;
}

bool loads_what_it_stores(const Statement& store, const Statements& statements) {
  const int64_t slot = slot_of(store.node);
  const std::vector<ir::UOp> body = body_of(store.node);
  return std::any_of(body.begin(), body.end(), [&](ir::UOp n) { return n->op == Op::Load && slot_of(n) == slot; }) ||
         std::any_of(store.deps.begin(), store.deps.end(), [&](const Dep& d) {
           const Statement& sum = statements.list[static_cast<size_t>(d.on)];
           return d.why == Dep::Why::Value && sum.carried() && slot_of(sum.homes[0]) == slot;
         });
}

void add_barriers(std::vector<Item>& tree, const Statements& statements, const Schedule& schedule) {
  if (schedule.threads == 1) return;
  Planner::Touched touched;
  Planner(statements, schedule).plan(tree, touched);
}

void verify_barriers(const std::vector<Item>& tree, const Statements& statements, const Schedule& schedule) {
  const int64_t there = barriers(tree);
  if (there && schedule.threads == 1) throw InternalError("codegen: a thread waits where there is no other");
  if (schedule.threads == 1) return;
  std::vector<Item> again = tree;
  add_barriers(again, statements, schedule);
  if (const int64_t wanted = barriers(again); there != wanted)
    throw InternalError(fmt::format("codegen: {} barriers are missing in the loop tree", wanted - there));
}

}  // namespace sinter::codegen
