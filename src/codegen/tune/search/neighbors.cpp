// One function per kind of change. Consequences of a change are repaired: steps and blocks are rounded up to multiples
// of what lies inside. Lists that are still illegal are dropped.
#include "codegen/tune/search/neighbors.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "codegen/tune/search/neighbors_memory.h"
#include "ir/ceil_div.h"
#include "ir/contains.h"

namespace sinter::codegen {
namespace {

using Opts = std::vector<Opt>;

constexpr std::array kUnrolls = {1, 2, 3, 4, 5, 6, 8, 12, 16};
constexpr std::array<int64_t, 3> kBlocks = {4, 16, 64};  ///< widths of a new block

// ---- lists

template <class T>
void drop(Opts& opts, int range) {
  std::erase_if(opts, [&](const Opt& o) { return std::holds_alternative<T>(o) && std::get<T>(o).range == range; });
}
/// Sets the count of a Lanes or Unroll. A count of 1 removes it. Copies lose their distance, which another count does
/// not divide.
template <class T>
void set_count(Opts& opts, int range, int count) {
  if (Unroll* copies = find_opt<Unroll>(opts, range)) copies->distance = 1;
  if (count == 1) return drop<T>(opts, range);
  if (T* t = find_opt<T>(opts, range))
    t->count = count;
  else
    opts.push_back(T{range, count});
}
template <class T>
int count_of(Opts& opts, int range) {
  const T* t = find_opt<T>(opts, range);
  return t ? t->count : 1;
}

/// Values in a step of a range's innermost loop.
int64_t width_of(Opts& opts, int range) {
  const Unroll* copies = find_opt<Unroll>(opts, range);
  return count_of<Lanes>(opts, range) * (copies ? copies->count * copies->distance : 1);
}

std::vector<Split*> splits_of(Opts& opts, int range) {
  std::vector<Split*> out;
  for (Opt& o : opts)
    if (Split* s = std::get_if<Split>(&o); s && s->range == range) out.push_back(s);
  return out;
}

/// Rounds the splits and the task block of a range up to multiples of what lies inside. Drops its Cut, because the
/// steps have changed.
void settle(Opts& opts, int range) {
  drop<Cut>(opts, range);
  int64_t inside = width_of(opts, range);
  std::vector<Split*> splits = splits_of(opts, range);
  for (size_t i = splits.size(); i-- > 0;) inside = splits[i]->step = round_up(splits[i]->step, inside);
  if (TaskBlock* b = find_opt<TaskBlock>(opts, range)) b->size = round_up(b->size, inside);
}

LoopOrder* order_of(Opts& opts) {
  for (Opt& o : opts)
    if (LoopOrder* order = std::get_if<LoopOrder>(&o)) return order;
  return nullptr;
}

/// Inputs and output of the functions below.
struct ChangeContext {
  const Kernel& kernel;
  const runtime::Target& target;
  KernelAnalysis& analysis;
  const std::vector<UOp>& free;
  const std::vector<Materialize>& materializations;
  const Opts& given;
  std::vector<Opts>& results;

  /// Applies `change` to a copy of the given list.
  template <class Change>
  void make(Change change) {
    Opts opts = given;
    change(opts);
    results.push_back(std::move(opts));
  }
  /// All loops in the order of the given list. Loops that no LoopOrder names are sorted by id, outer ranges first.
  std::vector<LoopOrder::Loop> loops() const {
    Opts opts = given;
    std::vector<LoopOrder::Loop> all;
    const LoopOrder* order = order_of(opts);
    for (UOp r : analysis.ranges()) {
      const int id = range_id(r), levels = static_cast<int>(splits_of(opts, id).size()) + 1;
      for (int level = 0; level < levels; ++level) all.push_back({id, level});
    }
    if (!order) return all;
    const auto holds = [](const std::vector<LoopOrder::Loop>& list, const LoopOrder::Loop& l) {
      return ir::contains(list, l);
    };
    std::vector<LoopOrder::Loop> named = order->loops;
    std::erase_if(named, [&](const LoopOrder::Loop& l) { return !holds(all, l); });
    size_t next = 0;
    for (LoopOrder::Loop& l : all)
      if (holds(order->loops, l)) l = named[next++];
    return all;
  }
};

void set_order(Opts& opts, std::vector<LoopOrder::Loop> loops) {
  if (LoopOrder* order = order_of(opts))
    order->loops = std::move(loops);
  else
    opts.push_back(LoopOrder{std::move(loops)});
}

// ---- changes

/// Changes the lane count of a range, adds lanes along another range, or moves all lanes to one range.
void lanes(ChangeContext& s) {
  const int most = std::max(2, s.target.vector_bytes / 4);
  for (UOp r : s.free) {
    const int id = range_id(r);
    Opts given = s.given;
    const int now = count_of<Lanes>(given, id);
    const auto set = [&](int count, bool alone) {
      s.make([&](Opts& o) {
        if (alone) std::erase_if(o, [](const Opt& x) { return std::holds_alternative<Lanes>(x); });
        set_count<Lanes>(o, id, count);
        for (UOp other : s.free) settle(o, range_id(other));
      });
    };
    for (int count : {1, most / 2, most, 2 * most})
      if (count != now && (count == 1 || count / 2 < s.analysis.size(r))) set(count, false);
    if (now == 1 && s.analysis.size(r) > 1) set(most, true);
  }
}

/// Changes the unroll count of a range, or raises one range's count and lowers another's.
void unrolls(ChangeContext& s) {
  const auto other = [&](Opts& o, UOp r, int by) {
    const int now = count_of<Unroll>(o, range_id(r));
    const auto at = std::ranges::lower_bound(kUnrolls, now) - kUnrolls.begin() + by;
    if (at < 0 || at >= static_cast<long>(kUnrolls.size())) return false;
    const int count = kUnrolls[at];
    if (count > s.analysis.size(r)) return false;
    set_count<Unroll>(o, range_id(r), count);
    settle(o, range_id(r));
    return true;
  };
  for (UOp r : s.free)
    for (int by : {-2, -1, 1, 2}) {
      Opts o = s.given;
      if (!other(o, r, by)) continue;
      s.results.push_back(o);
      for (UOp q : s.free)
        if (!(q == r) && by * by == 1) {
          Opts both = o;
          if (other(both, q, -by)) s.results.push_back(std::move(both));
        }
    }
}

/// Peels the edge iterations of an unrolled range under a predicate. The loop then covers the whole range.
void peels(ChangeContext& s) {
  const auto predicated = [&](UOp r) {
    return std::ranges::any_of(s.analysis.statements(), [&](const StatementAnalysis& w) {
      return std::ranges::any_of(w.accesses, [&](UOp a) { return s.analysis.is_masked_along(a, r); });
    });
  };
  for (UOp r : s.free) {
    const int id = range_id(r);
    Opts given = s.given;
    if (count_of<Unroll>(given, id) == 1 || find_opt<Cut>(given, id) || !predicated(r)) continue;
    s.make([&](Opts& o) {
      drop<TaskBlock>(o, id);
      if (is_outer(r)) o.push_back(TaskBlock{id, s.analysis.size(r)});
      settle(o, id);
      const Cut edges = peel(id, s.analysis.size(r), width_of(o, id), 1, 1);
      if (!edges.at.empty()) o.push_back(edges);
    });
  }
}

/// Adds a loop over blocks of a range outside all other loops; doubles, halves or removes existing blocks.
void splits(ChangeContext& s) {
  for (UOp r : s.analysis.ranges()) {
    const int id = range_id(r);
    Opts given = s.given;
    const std::vector<Split*> now = splits_of(given, id);
    const int64_t width = width_of(given, id);
    if (now.empty()) {
      for (int64_t blocks : kBlocks) {
        if (width * blocks >= s.analysis.size(r)) continue;
        s.make([&](Opts& o) {
          std::vector<LoopOrder::Loop> loops = s.loops();
          for (LoopOrder::Loop& l : loops) l.level += l.range == id;
          loops.insert(loops.begin(), {id, 0});
          o.push_back(Split{id, width * blocks});
          settle(o, id);
          set_order(o, std::move(loops));
        });
      }
      continue;
    }
    for (const bool larger : {true, false}) {
      if (!larger && now[0]->step == 1) continue;
      s.make([&](Opts& o) {
        Split* outermost = splits_of(o, id)[0];
        outermost->step = larger ? outermost->step * 2 : outermost->step / 2;
        settle(o, id);
      });
    }
    s.make([&](Opts& o) {
      std::vector<LoopOrder::Loop> loops = s.loops();
      std::erase(loops, LoopOrder::Loop{id, 0});
      for (LoopOrder::Loop& l : loops) l.level -= l.range == id;
      drop<Split>(o, id);
      for (size_t i = 1; i < now.size(); ++i) o.push_back(*now[i]);
      set_order(o, std::move(loops));
    });
  }
}

/// Swaps adjacent loops, or moves one loop outermost.
void orders(ChangeContext& s) {
  const std::vector<LoopOrder::Loop> loops = s.loops();
  for (size_t i = 1; i < loops.size(); ++i) {
    s.make([&](Opts& o) {
      std::vector<LoopOrder::Loop> swapped = loops;
      std::swap(swapped[i - 1], swapped[i]);
      set_order(o, std::move(swapped));
    });
    if (i == 1) continue;
    s.make([&](Opts& o) {
      std::vector<LoopOrder::Loop> first = loops;
      std::rotate(first.begin(), first.begin() + static_cast<long>(i), first.begin() + static_cast<long>(i) + 1);
      set_order(o, std::move(first));
    });
  }
}

/// Changes how many values of an outer range a task covers.
void blocks(ChangeContext& s) {
  for (UOp r : s.analysis.ranges()) {
    if (!is_outer(r)) continue;
    const int id = range_id(r);
    Opts given = s.given;
    const std::vector<Split*> splits = splits_of(given, id);
    const int64_t least = splits.empty() ? width_of(given, id) : splits[0]->step;
    const TaskBlock* block = find_opt<TaskBlock>(given, id);
    const int64_t now = block ? block->size : least;
    for (int64_t size : {least, now / 2, now * 2, now * 4}) {
      size = round_up(size, least);
      if (size == now || size / 2 >= s.analysis.size(r)) continue;
      s.make([&](Opts& o) {
        drop<TaskBlock>(o, id);
        if (size > least) o.push_back(TaskBlock{id, size});
      });
    }
  }
}

/// Adds one Opt.
void add(ChangeContext& s, const Opts& more) {
  for (const Opt& opt : more)
    if (!ir::contains(s.given, opt)) s.make([&](Opts& o) { o.push_back(opt); });
}

/// Materializes one more value.
void materializations(ChangeContext& s) { add(s, {s.materializations.begin(), s.materializations.end()}); }
void tile_copies(ChangeContext& s) { add(s, tile_copies_to_try(s.kernel, s.analysis, s.given)); }
void prefetches(ChangeContext& s) { add(s, prefetches_to_try(s.kernel, s.analysis, s.given)); }
void nontemporal_stores(ChangeContext& s) { add(s, nontemporal_stores_to_try(s.kernel)); }

/// Removes one Opt.
void without(ChangeContext& s) {
  for (size_t i = 0; i < s.given.size(); ++i) s.make([&](Opts& o) { o.erase(o.begin() + static_cast<long>(i)); });
}

struct Change {
  std::string_view name;
  void (*make)(ChangeContext& s);
};
constexpr std::array kChanges = {
    Change{"lanes", lanes},
    Change{"unrolls", unrolls},
    Change{"peels", peels},
    Change{"splits", splits},
    Change{"orders", orders},
    Change{"blocks", blocks},
    Change{"materializations", materializations},
    Change{"tile_copies", tile_copies},
    Change{"prefetches", prefetches},
    Change{"nontemporal_stores", nontemporal_stores},
    Change{"without", without},
};

}  // namespace

Neighborhood::Neighborhood(const Kernel& kernel, const runtime::Target& target)
    : kernel_(kernel),
      target_(target),
      analysis_(kernel),
      materializations_(find_materializations(kernel, analysis_, target)) {
  const std::vector<UOp> fixed = sequential_ranges(kernel, analysis_);
  for (UOp r : analysis_.ranges())
    if (!contains(fixed, r)) free_.push_back(r);
}

std::vector<Neighbor> Neighborhood::of(const std::vector<Opt>& opts) {
  std::vector<Neighbor> out;
  std::set<std::string> seen{to_string(opts)};
  for (const Change& change : kChanges) {
    std::vector<Opts> results;
    ChangeContext site{kernel_, target_, analysis_, free_, materializations_, opts, results};
    change.make(site);
    for (Opts& o : results)
      if (seen.insert(to_string(o)).second && is_legal(kernel_, o)) out.push_back({change.name, std::move(o)});
  }
  return out;
}

}  // namespace sinter::codegen
