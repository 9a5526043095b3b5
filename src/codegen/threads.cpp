// Barriers: a walk that remembers which statements have touched memory since the last one.
#include "codegen/threads.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "uop/walk.h"

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
        if (memory && (d.why == Dep::Why::Memory || !own_elements(list_[on], list_[s]))) clash(on, s);
      }
    }
  }

  /// `touched`: by statements since the last barrier.
  void plan(std::vector<Item>& items, std::set<size_t>& touched) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].what == What::Barrier) {
        touched.clear();
        continue;
      }
      if (meets(items[i], touched)) {
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(i++), {What::Barrier});
        touched.clear();
      }
      if (items[i].what != What::Loop) {
        touched.insert(static_cast<size_t>(items[i].statement));
        continue;
      }
      const std::set<size_t> before = touched;  // the loop may make no turn
      plan(items[i].body, touched);
      if (!single(items[i].level)) plan(items[i].body, touched);  // what the end of a turn leaves for the next
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

  void clash(size_t a, size_t b) {
    clashes_.emplace(a, b);
    clashes_.emplace(b, a);
  }
  /// The loops in whose turns threads touch different memory: for a sum these are also its own, unless it keeps accumulators there.
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

  bool meets(const Item& item, const std::set<size_t>& touched) const {
    if (item.what == What::Loop)
      return std::any_of(item.body.begin(), item.body.end(), [&](const Item& i) { return meets(i, touched); });
    if (item.what == What::Barrier) return false;
    const auto s = static_cast<size_t>(item.statement);
    return std::any_of(touched.begin(), touched.end(), [&](size_t t) {
      // A carried sum loads what lies in its home where it begins, and stores there where it ends.
      return clashes_.contains({t, s}) && (t != s || item.what == What::Init || item.what == What::Finish);
    });
  }

  const std::vector<Statement>& list_;
  const Schedule& schedule_;
  int threads_;
  std::set<std::pair<size_t, size_t>> clashes_;
};

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

bool loads_what_it_stores(const Statement& store) {
  const std::vector<ir::UOp> body = body_of(store.node);
  return std::any_of(body.begin(), body.end(),
                     [&](ir::UOp n) { return n->op == Op::Load && n->src[0] == store.node->src[0]; });
}

void add_barriers(std::vector<Item>& tree, const Statements& statements, const Schedule& schedule) {
  if (schedule.threads == 1) return;
  std::set<size_t> touched;
  Planner(statements, schedule).plan(tree, touched);
}

}  // namespace sinter::codegen
