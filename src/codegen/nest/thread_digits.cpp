// Barrier placement: a walk that tracks which statements touched memory since the last barrier.
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

using ItemKind = LoopItem::ItemKind;

class BarrierPlanner {
 public:
  BarrierPlanner(const Statements& statements, const LoopSchedule& schedule)
      : list_(statements.list), schedule_(schedule), threads_(schedule.threads) {
    for (size_t s = 0; s < list_.size(); ++s) {
      if (list_[s].carried() && !partitions_memory(list_[s])) add_conflict(s, s);
      for (const Dependence& d : list_[s].deps) {
        const auto on = static_cast<size_t>(d.on);
        const bool memory = d.reason != Dependence::Reason::Value || list_[on].carried();
        if (!memory || (d.reason != Dependence::Reason::Memory && same_partition(list_[on], list_[s]))) continue;
        add_conflict(on, s, ring_tile_filled_by(list_[on], statements));
      }
    }
  }

  /// The slot of a ring tile that a statement touched, relative to the current iteration of the loop that rotates
  /// slots.
  enum class RingSlot : uint8_t { Present, Next, Unknown };
  using AccessSet = std::set<std::pair<size_t, RingSlot>>;

  /// `touched`: accesses since the last barrier.
  void plan(std::vector<LoopItem>& items, AccessSet& touched) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind == ItemKind::Barrier) {
        touched.clear();
        continue;
      }
      if (items[i].kind == ItemKind::Wait) {  // a thread waits for its own copies; others read them
        if (i + 1 == items.size() || items[i + 1].kind != ItemKind::Barrier)
          items.insert(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, {ItemKind::Barrier});
        continue;
      }
      // No barrier before a loop that rotates ring slots: the barrier inside, which separates iterations, also covers
      // the first one.
      const bool slots = items[i].kind == ItemKind::Loop && has_ring_fill(items[i]);
      if (!slots && needs_barrier(items[i], touched)) {
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++), {ItemKind::Barrier});
        touched.clear();
      }
      if (!items[i].has_body()) {
        if (touches(items[i])) touched.emplace(static_cast<size_t>(items[i].statement), ring_slot_at(items[i]));
        continue;
      }
      const AccessSet before = touched;  // the loop may run zero iterations
      plan(items[i].body, touched);
      if (items[i].kind == ItemKind::Loop &&
          !runs_at_most_once(items[i].level)) {  // the end of one iteration against the start of the next
        if (slots)
          touched = map_slots(touched, [](RingSlot s) {
            return s == RingSlot::Present ? RingSlot::Next : s == RingSlot::Next ? RingSlot::Present : s;
          });
        plan(items[i].body, touched);
      }
      if (slots) touched = map_slots(touched, [](RingSlot) { return RingSlot::Unknown; });
      touched.insert(before.begin(), before.end());
    }
  }

 private:
  /// Whether a task runs at most one iteration of the loop.
  bool runs_at_most_once(const LoopLevel& l) const {
    const LoopAxis& a = schedule_.of(l.range);
    if (l.joined_values) return l.joined_values <= l.width();
    if (a.steps.empty() && a.outer() && a.block <= l.width()) return true;
    return a.steps.empty() && a.size && a.size <= l.width();
  }

  /// `slots`: conflict only if both touch the same ring slot.
  void add_conflict(size_t a, size_t b, bool slots = false) {
    for (const auto& pair : {std::pair(a, b), std::pair(b, a)})
      if (auto [it, fresh] = conflicts_.emplace(pair, slots); !fresh) it->second &= slots;
  }
  static RingSlot ring_slot_at(const LoopItem& item) {
    return item.kind == ItemKind::Put || item.kind == ItemKind::Copy ? RingSlot::Next : RingSlot::Present;
  }
  static bool has_ring_fill(const LoopItem& loop) {
    return std::ranges::any_of(loop.body, [](const LoopItem& i) { return i.kind == ItemKind::FillNext; });
  }
  template <class F>
  static AccessSet map_slots(const AccessSet& touched, F f) {
    AccessSet made;
    for (const auto& [statement, slot] : touched) made.emplace(statement, f(slot));
    return made;
  }
  /// Loops that partition memory among threads. For a REDUCE they include its own, unless its accumulators are in
  /// memory.
  static std::vector<LoopLevel> partition_loops(const Statement& s) {
    std::vector<LoopLevel> all = s.thread_loops;
    if (s.is_reduce() && !s.carried())
      std::copy_if(s.loops.begin() + static_cast<std::ptrdiff_t>(s.accumulator_depth), s.loops.end(),
                   std::back_inserter(all), [](const LoopLevel& l) { return l.threads > 1; });
    return all;
  }
  /// Whether no two threads of the block touch the same memory.
  bool partitions_memory(const Statement& s) const {
    int all = 1;
    for (const LoopLevel& l : partition_loops(s)) all *= l.threads * l.warp.threads;
    return all == threads_;
  }
  /// Whether the same thread handles the same element in both.
  bool same_partition(const Statement& a, const Statement& b) const {
    auto shares = [](const Statement& s) {
      std::vector<std::tuple<int, int, int, int, int, int, int64_t>> all;
      for (const LoopLevel& l : partition_loops(s))
        all.emplace_back(range_id(l.range), l.threads, l.thread_stride, l.lanes, l.warp.threads, l.warp.stride,
                         l.joined_values);
      std::ranges::sort(all);
      return all;
    };
    return partitions_memory(a) && partitions_memory(b) && shares(a) == shares(b);
  }

  /// Whether a leaf touches memory that threads share. Init and Finish of accumulators in registers do not, and neither
  /// does a Fetch, whose source no statement writes.
  bool touches(const LoopItem& item) const {
    if (item.kind == ItemKind::Barrier || item.kind == ItemKind::Fetch || item.kind == ItemKind::Wait) return false;
    const Statement& s = list_[item.statement];
    return !(item.kind == ItemKind::Init || item.kind == ItemKind::Finish) || !s.is_reduce() || s.carried();
  }
  bool needs_barrier(const LoopItem& item, const AccessSet& touched) const {
    if (item.has_body()) {  // what lies behind a barrier of its own needs none before the body
      const auto end = std::ranges::find(item.body, ItemKind::Barrier, &LoopItem::kind);
      return std::any_of(item.body.begin(), end, [&](const LoopItem& i) { return needs_barrier(i, touched); });
    }
    if (!touches(item)) return false;
    const auto s = static_cast<size_t>(item.statement);
    return std::ranges::any_of(touched, [&](const auto& before) {
      const auto [t, slot] = before;
      const auto it = conflicts_.find({t, s});
      if (it == conflicts_.end() || (it->second && slot != RingSlot::Unknown && slot != ring_slot_at(item)))
        return false;
      // A carried REDUCE loads from its home at Init and stores to it at Finish.
      return t != s || item.kind == ItemKind::Init || item.kind == ItemKind::Finish;
    });
  }

  const std::vector<Statement>& list_;
  const LoopSchedule& schedule_;
  int threads_;
  std::map<std::pair<size_t, size_t>, bool> conflicts_;  ///< value: only on the same ring slot
};

int64_t count_barriers(const std::vector<LoopItem>& items) {
  int64_t count = 0;
  for (const LoopItem& item : items) count += item.kind == ItemKind::Barrier ? 1 : count_barriers(item.body);
  return count;
}

}  // namespace

Id thread_digit(BlockWriter& emit, int stride, int count) {
  return emit.value({InstCode::Thread, {DType::Index, 1}, {}, stride, ir::Scalar::of(DType::Index, count)});
}

Id leader_predicate(BlockWriter& emit, const Statement& statement, int threads) {
  std::vector<std::pair<int, int>> used;  // stride and count
  for (const LoopLevel& l : statement.thread_loops) {
    if (l.threads > 1) used.emplace_back(l.thread_stride, l.threads);
    if (l.warp.threads > 1) used.emplace_back(l.warp.stride, l.warp.threads);
  }
  std::ranges::sort(used);
  used.emplace_back(threads, 1);
  Id ok = kNone;
  int from = 1;
  for (auto [stride, count] : used) {
    if (stride > from)
      ok = emit.both(ok, emit.alu(Op::Eq, {DType::Bool, 1}, {thread_digit(emit, from, stride / from), emit.number(0)}));
    from = stride * count;
  }
  return ok;
}

bool joins_threads(const Statement& s) {
  return s.is_reduce() && s.node->reduction().tree.lanes > 1 && s.own_depth < s.loops.size() &&
         s.loops.back().threaded();
}

bool reduces_across_threads(const Statements& statements) {
  return std::ranges::any_of(statements.list, joins_threads);
}

bool loads_what_it_stores(const Statement& store, const Statements& statements) {
  const int64_t slot = slot_of(store.node);
  const std::vector<UOp> body = body_of(store.node);
  return std::ranges::any_of(body, [&](UOp n) { return n->op == Op::Load && slot_of(n) == slot; }) ||
         std::ranges::any_of(store.deps, [&](const Dependence& d) {
           const Statement& sum = statements.list[d.on];
           return d.reason == Dependence::Reason::Value && sum.carried() && slot_of(sum.homes[0]) == slot;
         });
}

void add_barriers(std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule) {
  if (schedule.threads == 1) return;
  BarrierPlanner::AccessSet touched;
  BarrierPlanner(statements, schedule).plan(tree, touched);
}

void verify_barriers(const std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule) {
  const int64_t there = count_barriers(tree);
  if (there && schedule.threads == 1) throw InternalError("codegen: a barrier in a kernel of one thread");
  if (schedule.threads == 1) return;
  std::vector<LoopItem> again = tree;
  add_barriers(again, statements, schedule);
  if (const int64_t wanted = count_barriers(again); there != wanted)
    throw InternalError(fmt::format("codegen: {} barriers are missing in the loop tree", wanted - there));
}

}  // namespace sinter::codegen
