// Builds statements, their loops and their order.
#include "codegen/nest/statement.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "codegen/nest/accumulator_home.h"
#include "codegen/nest/carried_stores.h"
#include "codegen/nest/live_iterations.h"
#include "codegen/nest/loop_levels.h"
#include "codegen/nest/mma_statement.h"
#include "codegen/nest/nontemporal.h"
#include "codegen/nest/store_guards.h"
#include "codegen/nest/tile_copy.h"
#include "ir/build.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "rewrite/interval.h"
#include "rewrite/linear.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

class StatementBuilder {
 public:
  StatementBuilder(const Kernel& kernel, const LoopSchedule& schedule, FreeRanges& ranges)
      : kernel_(kernel), schedule_(schedule), ranges_(ranges), levels_(schedule, ranges) {}

  Statements run() {
    sink_ = insert_tiles(kernel_, schedule_, out_.tiles);
    accumulator_homes_.emplace(sink_);
    find_memory();
    guards_.emplace(sink_, out_.tiles, kernel_.params, schedule_, ranges_);
    for (UOp store : sink_->src) add_store(store);
    find_live_iterations(out_);
    return std::move(out_);
  }

 private:
  // ---- memory that the kernel writes
  void find_memory() {
    for (UOp n : ir::topological(sink_))
      if (n->op == Op::Load && accumulator_homes_->stores(slot_of(n))) out_.read_write_slots.push_back(slot_of(n));
    std::ranges::sort(out_.read_write_slots);
    out_.read_write_slots.erase(std::unique(out_.read_write_slots.begin(), out_.read_write_slots.end()),
                                out_.read_write_slots.end());
    versions_.assign(out_.read_write_slots.size(), 0);
  }
  int read_write_index(int64_t slot) const {
    auto it = std::ranges::lower_bound(out_.read_write_slots, slot);
    return it != out_.read_write_slots.end() && *it == slot ? static_cast<int>(it - out_.read_write_slots.begin()) : -1;
  }
  bool is_tile(int64_t slot) const { return slot >= kernel_.params; }
  bool is_fill(int64_t slot) const { return is_tile(slot) && out_.tiles[slot - kernel_.params].fill; }

  // ---- guards
  int guard_index(const StoreGuard& guard) {
    if (guard.empty()) return -1;
    auto it = std::ranges::find(out_.guards, guard);
    if (it == out_.guards.end()) it = out_.guards.insert(it, guard);
    return static_cast<int>(it - out_.guards.begin());
  }

  // ---- loops
  /// Loops around one statement must use disjoint digits of the thread index.
  static void require_disjoint_thread_digits(std::span<const LoopLevel> loops) {
    for (const LoopLevel& a : loops)
      for (const LoopLevel& b : loops)
        if (a.warp.threads > 1 && b.warp.threads > 1 && a.warp.stride == b.warp.stride && !(a == b))
          refuse(fmt::format("mma on range {}", range_id(b.range)),
                 fmt::format("range {} of the same statement is held by the same threads", range_id(a.range)));
        else if (a.threads > 1 && b.threads > 1 && !(a == b) && a.thread_stride <= b.thread_stride &&
                 b.thread_stride % (a.thread_stride * a.threads))
          refuse(fmt::format("thread_bind({}, {}, {})", range_id(b.range), b.threads, b.thread_stride),
                 fmt::format("range {} of the same statement is bound to the same threads", range_id(a.range)));
  }
  /// Permutes the loops that the LoopOrder names among themselves. Returns why the result is illegal, or null.
  const char* arrange(std::vector<LoopLevel>& loops) {
    auto place = [this](const LoopLevel& l) { return schedule_.order_position(l.range, l.number); };
    std::vector<LoopLevel> named = ir::filtered(loops, [&](const LoopLevel& l) { return place(l) >= 0; });
    std::ranges::sort(named, [&](const LoopLevel& a, const LoopLevel& b) { return place(a) < place(b); });
    size_t next = 0;
    for (LoopLevel& l : loops)
      if (place(l) >= 0) l = named[next++];
    for (size_t a = 0; a < loops.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        if (loops[a].range == loops[b].range && loops[a].number <= loops[b].number)
          return "loops of one range would not stand from the largest blocks to the smallest";
        if (!(loops[a].range == loops[b].range) && ranges_.depends(loops[b].range->src[0], loops[a].range))
          return "a loop would stand outside one on which its bound depends";
      }
    return nullptr;
  }
  [[noreturn]] void refuse_order(const std::string& why) const { refuse(to_string(LoopOrder{schedule_.order}), why); }

  std::vector<LoopLevel> loops_of(UOp store) {
    const bool adds = store->integer() != 0;
    const RangeSet free = ranges_.free(store);
    std::vector<UOp> axes;
    for (const bool outer : {true, false})
      for (const LoopAxis& a : schedule_.axes)
        if (is_outer(a.range) == outer && free[ranges_.number(a.range)] && !one_trip(a.range)) axes.push_back(a.range);
    // Straight loops that other stores stand in: it may share what is computed inside.
    for (const LoopAxis& a : schedule_.axes)
      if (levels_.is_straight(a, a.width()) && !adds && !free[ranges_.number(a.range)] && !one_trip(a.range) &&
          stored_along(a.range))
        axes.insert(std::ranges::find_if(axes, [&](UOp r) { return !is_outer(r) && range_id(r) > range_id(a.range); }),
                    a.range);
    std::vector<LoopLevel> loops;
    int vectors = 0;
    for (UOp r : axes) {
      // A read-modify-write STORE keeps its order at each element: of its inner loops only the innermost, and those
      // that no element crosses, have lanes or unrolled copies. No threads share one.
      const LoopAxis& a = schedule_.of(r);
      const bool plain = !adds || is_outer(r) || r == axes.back() || fixes_element(store, r, axes);
      const bool vector = plain && !levels_.lanes_inside(store, r);
      levels_.add(loops, r,
                  {vector ? a.lanes : 1, plain ? a.unroll : 1, !adds || is_outer(r) ? a.threads : 1,
                   (vector || a.lanes == 1) && !(adds && !is_outer(r)) ? a.warp : WarpDigits{}, a.distance});
      vectors += vector && a.lanes > 1 && free[ranges_.number(r)];
    }
    if (vectors > 1) refuse("lanes", "a store runs over two ranges that have lanes");
    require_disjoint_thread_digits(loops_with_own_threads(store, loops, ranges_));
    const std::vector<LoopLevel> before = loops;
    if (const char* why = arrange(loops)) refuse_order(why);
    if (adds && !same_order(before, loops, [](const LoopLevel& l) { return !is_outer(l.range); }))
      refuse_order("it changes the order of sums into memory");
    return loops;
  }
  /// Whether each element that the store accesses lies at one index of the range: a dim's index is linear in it, and
  /// in no other inner one of `axes`.
  bool fixes_element(UOp store, UOp range, const std::vector<UOp>& axes) {
    return std::ranges::any_of(indices_of(store), [&](UOp index) {
      const ir::LinearExpr sum = ir::linear_of(index);
      return sum.factor(range) != 0 && std::ranges::none_of(sum.terms, [&](const ir::LinearTerm& t) {
               return std::ranges::any_of(
                   axes, [&](UOp r) { return !is_outer(r) && !(t.atom == range) && ranges_.depends(t.atom, r); });
             });
    });
  }
  bool stored_along(UOp range) {
    return std::ranges::any_of(sink_->src, [&](UOp store) { return ranges_.free(store)[ranges_.number(range)]; });
  }
  template <class Concerned>
  static bool same_order(const std::vector<LoopLevel>& a, const std::vector<LoopLevel>& b, Concerned concerned) {
    std::vector<LoopLevel> x, y;
    std::copy_if(a.begin(), a.end(), std::back_inserter(x), concerned);
    std::copy_if(b.begin(), b.end(), std::back_inserter(y), concerned);
    return x == y;
  }

  // ---- statements
  void add_store(UOp store) {
    const StoreGuard& guard = guards_->of_store(store);
    Statement s{store, loops_of(store)};
    const bool copies = copy_results(s);
    s.own_depth = s.accumulator_depth = s.loops.size();
    s.guard = guard_index(guard);
    if (!s.loops.empty()) s.loops[0].guard = s.guard;
    s.nontemporal = goes_past_caches(s);
    add_values(s, guard);
    const bool lies_there = std::ranges::any_of(s.deps, [&](const Dependence& d) {
      const Statement& r = out_.list[d.on];
      return r.carried() && slot_of(r.homes[0]) == slot_of(store) && r.node == stored_value(store);
    });
    if (lies_there) return;
    if (!s.nontemporal && !copies) choose_store_loops(s, out_, schedule_);
    append(std::move(s));
    if (int p = read_write_index(slot_of(store)); p >= 0) ++versions_[p];
  }

  /// The tile of results that an access is to; null: none.
  const Tile* results_tile(UOp access) const {
    if (!is_access(access) || !is_tile(slot_of(access))) return nullptr;
    const Tile& tile = out_.tiles[static_cast<size_t>(slot_of(access) - kernel_.params)];
    return tile.tile_copy && !tile.fill ? &tile : nullptr;
  }
  /// Gives a STORE of results that lie in a tile the loops that copy them. Whether it is one.
  bool copy_results(Statement& s) {
    if (const Tile* tile = results_tile(s.node)) require_layout(*tile, s.loops);
    const Tile* tile = results_tile(stored_value(s.node));
    if (!tile) return false;
    s.loops = fill_loops(*tile, s.loops, schedule_, ranges_);
    require_layout(*tile, s.loops);
    require_disjoint_thread_digits(std::span(s.loops).subspan(shared_loops(s.loops)));
    return true;
  }

  /// The Opt that makes a store nontemporal.
  NonTemporal nontemporal(UOp store) const {
    NonTemporal opt{};
    for (UOp s : sink_->src) {
      if (s == store) break;
      opt.store += !is_tile(slot_of(s));
    }
    return opt;
  }
  bool wants_nontemporal(UOp store) const { return ir::contains(schedule_.nontemporal, nontemporal(store)); }
  bool goes_past_caches(const Statement& s) {
    if (is_tile(slot_of(s.node)) || !wants_nontemporal(s.node)) return false;
    const NonTemporal opt = nontemporal(s.node);
    if (accumulator_homes_->loads(slot_of(s.node))) refuse(to_string(opt), "the kernel reads that buffer");
    require_whole_vectors(opt, s.node, s.loops, ranges_);
    return true;
  }

  /// Makes the REDUCEs that `s` reads, and those that they read, sources first.
  void add_values(Statement& s, const StoreGuard& guard) {
    std::set<ir::Node*> seen;
    for (UOp n : body_of(s.node)) {
      if (!has_accumulators(n) || n == s.node) continue;
      UOp first = result_of(n, 0);
      if (seen.insert(first.get()).second) s.deps.push_back({add_reduce(first, s, guard), Dependence::Reason::Value});
    }
    add_fills(s);
  }

  /// Adds the fills of tiles that `s` reads before it. Recurses on tiles that are filled from other tiles.
  void add_fills(const Statement& s) {
    for (UOp n : body_of(s.node)) {
      if (n->op != Op::Load || !is_tile(slot_of(n))) continue;
      const Tile tile = out_.tiles[slot_of(n) - kernel_.params];
      if (!tile.fill || n->src[0] == s.node->src[0]) continue;
      require_layout(tile, s.loops);
      std::vector<LoopLevel> loops = fill_loops(tile, s.loops, schedule_, ranges_);
      require_layout(tile, loops);
      if (auto it = fills_.find(tile.slot); it != fills_.end()) {
        if (it->second != loops) refuse(to_string(*tile.tile_copy), "its users are in different blocks");
        continue;
      }
      require_disjoint_thread_digits(std::span(loops).subspan(shared_loops(loops)));
      fills_[tile.slot] = loops;
      Statement f{tile.fill, std::move(loops)};
      f.own_depth = f.accumulator_depth = f.loops.size();
      f.guard = shared_loops(f.loops) ? f.loops[0].guard : -1;
      add_fills(f);
      append(std::move(f));
    }
  }

  /// The statement of `reduce` for its user. Recursion depth: the nesting of REDUCEs.
  int add_reduce(UOp reduce, const Statement& user, const StoreGuard& guard) {
    const RangeSet free = ranges_.free(reduce);
    size_t depth = user.loops.size();
    while (depth > 0 && !free[ranges_.number(user.loops[depth - 1].range)]) --depth;
    while (depth < user.loops.size() && user.loops[depth].straight) ++depth;  // where others share its loops
    Statement s{reduce, {}};
    // Loops go by ascending id, which may make a REDUCE carried. If that is illegal, its own loops go innermost.
    user_loops_ = {user.loops.begin(), user.loops.begin() + static_cast<long>(depth)};
    if (reduce->op == Op::Scan)
      place_scan(s);
    else if (place_reduce(s, true))
      if (const char* why = place_reduce(s, false)) refuse_order(why);
    if (s.own_depth == 0 && !s.loops.empty())
      s.loops[0].guard = guards_->of_reduce(reduce) == guard ? guard_index(guard) : -1;
    s.guard = s.loops.empty() ? -1 : s.loops[0].guard;

    StatementKey key{reduce.get(), versions_seen(reduce), {}};
    for (const LoopLevel& l : s.loops)
      key.loops.emplace_back(l.range.get(), l.number, l.lanes, l.unroll, l.distance, l.threads, l.warp.threads,
                             l.guard);
    if (auto it = made_.find(key); it != made_.end()) return it->second;
    if (s.carried()) find_home(s, user);
    add_values(s, guard);
    const int at = append(std::move(s));
    made_.emplace(std::move(key), at);
    return at;
  }

  /// A SCAN stands in the loops of its user down to those of its own ranges. These must be innermost and have width 1.
  void place_scan(Statement& s) {
    std::vector<UOp> own = ranges_of(s.node);
    std::erase_if(own, one_trip);
    auto is_own = [&](const LoopLevel& l) { return ir::contains(own, l.range); };
    s.loops = user_loops_;
    s.own_depth = s.accumulator_depth = s.loops.size();
    while (s.accumulator_depth > 0 && is_own(s.loops[s.accumulator_depth - 1])) --s.accumulator_depth;
    std::vector<UOp> order;
    for (const LoopLevel& l : s.loops) {
      if (!is_own(l)) continue;
      if (l.width() > 1) refuse(to_string(l), "a SCAN runs element by element");
      if (order.empty() || !(order.back() == l.range)) order.push_back(l.range);
    }
    if (order != own || std::ranges::count_if(s.loops, is_own) != static_cast<long>(s.own_depth - s.accumulator_depth))
      refuse_order("a loop would stand inside those of a SCAN, or those in another order");
  }

  /// Inserts the loops of a REDUCE among those of its user: by ascending id or innermost, then permuted by the
  /// LoopOrder. Returns why the result is illegal, or null.
  const char* place_reduce(Statement& s, bool by_id) {
    const RangeSet free = ranges_.free(s.node);
    auto depends = [&](const LoopLevel& l) { return free[ranges_.number(l.range)]; };
    bool vector = std::ranges::any_of(user_loops_, [&](const LoopLevel& l) { return l.lanes > 1 && depends(l); });
    while (true) {
      const std::vector<LoopLevel> own = levels_.of_reduce(s.node, vector);
      s.loops = user_loops_;
      // A user's loop over one of the REDUCE's own ranges starts after the result is complete.
      const std::vector<UOp> closed = ranges_of(s.node);
      std::erase_if(s.loops, [&](const LoopLevel& l) { return ir::contains(closed, l.range); });
      for (const LoopLevel& l : own) {
        auto at = s.loops.end();
        if (by_id)
          at = std::ranges::find_if(
              s.loops, [&](const LoopLevel& o) { return !is_outer(o.range) && range_id(o.range) > range_id(l.range); });
        s.loops.insert(at, l);
      }
      if (const char* why = arrange(s.loops)) return why;
      require_disjoint_thread_digits(loops_with_own_threads(s.node, s.loops, ranges_));
      auto is_own = [&](const LoopLevel& l) { return ir::contains(own, l); };
      s.own_depth = static_cast<size_t>(std::ranges::find_if(s.loops, is_own) - s.loops.begin());
      if (!std::equal(s.loops.begin(), s.loops.begin() + static_cast<long>(s.own_depth), user_loops_.begin()))
        return "a REDUCE would not stand in the loops of its user";
      // Inside the first own loop, keep only loops that the value depends on.
      for (size_t i = s.loops.size(); i-- > s.own_depth;)
        if (!is_own(s.loops[i]) && !depends(s.loops[i])) s.loops.erase(s.loops.begin() + static_cast<long>(i));
      for (size_t i = 1; i < s.loops.size(); ++i) s.loops[i].guard = -1;
      for (s.accumulator_depth = s.loops.size();
           s.accumulator_depth > s.own_depth && is_own(s.loops[s.accumulator_depth - 1]);)
        --s.accumulator_depth;
      std::vector<LoopLevel> left;
      std::copy_if(s.loops.begin(), s.loops.end(), std::back_inserter(left), is_own);
      if (left != own) return "it would change the order in which a REDUCE combines";
      s.mma = mma_ranges_of(s.node, schedule_, ranges_);
      if (s.node->reduction().tree.mma)
        if (const char* why = why_no_steps(s, ranges_)) return why;
      if (!s.carried()) return nullptr;
      if (s.node->reduction().tree.lanes > 1) return "a REDUCE with chains of its own cannot be carried";
      if (accumulator_tile(s, 0, s.node->dtype).size > kLargestTile)
        return "carried accumulators would need too large a tile";
      if (s.mma || std::ranges::all_of(own, [](const LoopLevel& l) { return l.lanes == 1; })) return nullptr;
      vector = true;  // accumulators in memory lie along other ranges
    }
  }

  // ---- carried accumulators
  /// Its width along a range is that of the loops: where a user has chains, wider than the axis.
  Tile accumulator_tile(const Statement& s, int64_t slot, DType dtype) {
    std::vector<TileRange> ranges;
    for (const LoopAxis& a : schedule_.axes) {
      if (one_trip(a.range) || !ranges_.depends(s.node, a.range)) continue;
      TileRange r{a.range, a.single() ? a.levels() - 1 : -1, a.width(), a.lanes > 1};
      for (size_t i = 0; i < s.loops.size(); ++i) {
        const LoopLevel& l = s.loops[i];
        if (!(l.range == a.range)) continue;
        if (i < s.own_depth) r.level = l.number;
        if (l.number == a.levels() - 1) r.width = l.width(), r.lanes = l.lanes > 1;
      }
      ranges.push_back(r);
    }
    return make_tile(slot, dtype, ranges, schedule_);
  }
  void find_home(Statement& s, const Statement& user) {
    if (UOp store = accumulator_homes_->home_for(s.node, user.node, ranges_); store && can_be_home(s, store)) {
      s.homes = {ir::load(store->src[0], indices_of(store))};
      return;
    }
    for (DType dtype : ir::accumulator_types(s.node)) {
      out_.tiles.push_back(accumulator_tile(s, kernel_.params + static_cast<int64_t>(out_.tiles.size()), dtype));
      const Tile& tile = out_.tiles.back();
      s.homes.push_back(ir::load(codegen::param_of(*kernel_.graph, tile), codegen::indices_of(tile)));
    }
  }
  /// Whether the loops let the accumulators live where `store` writes: no others live there, the store always executes,
  /// and lanes are contiguous.
  bool can_be_home(const Statement& s, UOp store) {
    if (is_tile(slot_of(store)) || wants_nontemporal(store) || s.guard != guard_index(guards_->of_store(store)))
      return false;
    for (const Statement& other : out_.list)
      if (other.carried() && slot_of(other.homes[0]) == slot_of(store)) return false;
    const auto own = s.loops.begin() + static_cast<long>(s.own_depth);
    if (std::any_of(own, s.loops.end(),
                    [&](const LoopLevel& l) { return may_be_empty(l.range) && !ranges_.depends(s.node, l.range); }))
      return false;
    return std::ranges::all_of(s.loops, [&](const LoopLevel& l) {
      return l.lanes == 1 || !ranges_.depends(s.node, l.range) || stride_along(offset_of(store), l.range, ranges_) == 1;
    });
  }

  // ---- order by memory
  struct StatementKey {
    ir::Node* node;
    std::vector<int> versions;
    std::vector<std::tuple<ir::Node*, int, int, int, int64_t, int, int, int>> loops;
    auto operator<=>(const StatementKey&) const = default;
  };
  /// Versions of the memory that a REDUCE reads, directly or through nested REDUCEs.
  std::vector<int> versions_seen(UOp reduce) {
    std::vector<int> seen(out_.read_write_slots.size(), -1);
    if (seen.empty()) return seen;
    for (UOp n : ir::topological(reduce))
      if (n->op == Op::Load)
        if (int p = read_write_index(slot_of(n)); p >= 0) seen[p] = versions_[p];
    return seen;
  }

  struct ParamAccess {
    int statement;
    UOp node;
    bool store;
  };
  int append(Statement&& s) {
    const int self = static_cast<int>(out_.list.size());
    s.versions = versions_;
    for (size_t i = 0; i < s.loops.size(); ++i) {
      const LoopLevel& l = s.loops[i];
      const bool replaced = std::any_of(s.loops.begin() + static_cast<long>(i) + 1, s.loops.end(),
                                        [&](const LoopLevel& o) { return o.fills && o.range == l.range; });
      if (l.threaded() && ranges_.depends(s.node, l.range) && !replaced) s.thread_loops.push_back(l);
    }
    for (UOp n : body_of(s.node)) {
      if (n->op != Op::Load && n->op != Op::Store) continue;
      const bool store = n->op == Op::Store;
      if (!accumulator_homes_->stores(slot_of(n)) && !is_fill(slot_of(n))) continue;
      for (const ParamAccess& before : accesses_[slot_of(n)])
        if (before.statement != self && (before.store || store))
          s.deps.push_back(
              {before.statement, is_fill(slot_of(n)) || std::ranges::equal(indices_of(before.node), indices_of(n))
                                     ? Dependence::Reason::Element
                                     : Dependence::Reason::Memory});
      accesses_[slot_of(n)].push_back({self, n, store});
    }
    out_.list.push_back(std::move(s));
    return self;
  }

  const Kernel& kernel_;
  const LoopSchedule& schedule_;
  FreeRanges& ranges_;
  LoopLevels levels_;
  UOp sink_;
  std::vector<LoopLevel> user_loops_;  ///< loops of the user that a REDUCE may stand in
  Statements out_;
  std::optional<AccumulatorHomes> accumulator_homes_;
  std::vector<int> versions_;
  std::optional<StoreGuards> guards_;
  std::map<StatementKey, int> made_;
  std::map<int64_t, std::vector<LoopLevel>> fills_;  ///< by slot: the loops that fill a tile
  std::map<int64_t, std::vector<ParamAccess>> accesses_;
};

}  // namespace

std::vector<UOp> body_of(UOp root) {
  return ir::topological(std::span<const UOp>(&root, 1), [&](UOp n) { return n == root || !has_accumulators(n); });
}
bool Statement::at_once() const {
  return is_reduce() && own_depth < loops.size() && !carried() &&
         std::all_of(
             loops.begin() + static_cast<long>(own_depth), loops.end(), [](const LoopLevel& l) { return l.straight; });
}
bool may_be_empty(UOp range) { return ir::IntervalAnalysis().of(range->src[0]).lo < 1; }
bool one_trip(UOp range) { return range->src[0]->op == Op::Const && range->src[0]->scalar().as_int() == 1; }

Statements make_statements(const Kernel& kernel, const LoopSchedule& schedule, FreeRanges& ranges) {
  return StatementBuilder(kernel, schedule, ranges).run();
}

}  // namespace sinter::codegen
