// Statements, their loops and their order.
#include "codegen/statement.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "sinter/error.h"
#include "uop/names.h"
#include "uop/build.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::AxisKind;
using ir::Op;
using ir::UOp;

/// The nodes below `root` that belong to its own statement: REDUCEs below it are listed, but not entered.
std::vector<UOp> body_of(UOp root) {
  return ir::topological(std::span<const UOp>(&root, 1), [&](UOp n) { return n == root || n->op != Op::Reduce; });
}
UOp param_of(UOp access) { return access->src[0]; }
std::vector<UOp> index_of(UOp access) {
  return {access->src.begin() + 1, access->src.begin() + 1 + static_cast<long>(param_of(access)->rank())};
}

class Builder {
 public:
  Builder(const Kernel& kernel, const Schedule& schedule, Ranges& ranges)
      : kernel_(kernel), schedule_(schedule), ranges_(ranges) {}

  Statements run() {
    std::vector<UOp> nodes = ir::topological(kernel_.sink);
    find_outer(nodes);
    find_rewritten(nodes);
    for (UOp store : kernel_.sink->src) find_turns(store);
    for (UOp store : kernel_.sink->src) add_store(store);
    return std::move(out_);
  }

 private:
  // ---- what the kernel is made of
  void find_outer(const std::vector<UOp>& nodes) {
    std::map<int, UOp> by_id;
    for (UOp n : nodes)
      if (n->op == Op::Range && range_kind(n) == AxisKind::Outer) by_id[range_id(n)] = n;
    for (size_t id = 0; id < kernel_.outer.size(); ++id) {
      const Dim& bound = kernel_.outer[id];
      UOp& range = by_id[static_cast<int>(id)];
      if (!range) {
        UOp size = bound.symbolic() ? ir::variable(*kernel_.graph, bound.var(), DType::Index)
                                    : ir::constant(*kernel_.graph, DType::Index, bound.value());
        range = ir::range(size, static_cast<int>(id), AxisKind::Outer);
      }
      if (!one_trip(range)) out_.outer.push_back(range);
    }
  }
  void find_rewritten(const std::vector<UOp>& nodes) {
    std::set<int64_t> loaded;
    for (UOp n : nodes) {
      if (n->op == Op::Load) loaded.insert(param_of(n)->integer());
      if (n->op == Op::Store) stored_.insert(param_of(n)->integer());
    }
    for (int64_t slot : loaded)
      if (stored_.contains(slot)) out_.rewritten.push_back(slot);
    versions_.assign(out_.rewritten.size(), 0);
  }
  int rewritten(int64_t slot) const {
    auto it = std::lower_bound(out_.rewritten.begin(), out_.rewritten.end(), slot);
    return it != out_.rewritten.end() && *it == slot ? static_cast<int>(it - out_.rewritten.begin()) : -1;
  }

  // ---- turns: where a store that lacks an outer range runs
  /// A turn, and how many outer loops stand around it.
  struct Place {
    size_t depth = 0;
    Turn turn;
    bool operator==(const Place&) const = default;
  };
  Place place_of(UOp store) {
    Place p;
    const RangeSet& free = ranges_.free(store);
    auto lacks = [&](size_t i) { return !free[ranges_.number(out_.outer[i])]; };
    for (size_t i = 0; i < out_.outer.size(); ++i)
      if (!lacks(i)) p.depth = i + 1;
    for (size_t i = 0; i < p.depth; ++i)
      if (lacks(i)) p.turn.zero.push_back(out_.outer[i]);
    p.turn.first = p.depth < out_.outer.size() || out_.outer.empty();
    return p;
  }
  int turn_number(const Turn& turn) {
    if (turn.always()) return -1;
    auto it = std::find(out_.turns.begin(), out_.turns.end(), turn);
    if (it == out_.turns.end()) it = out_.turns.insert(it, turn);
    return static_cast<int>(it - out_.turns.begin());
  }
  /// A REDUCE that serves stores of one and the same turn only has their turn; else it runs always.
  void find_turns(UOp store) {
    const Place place = place_of(store);
    for (UOp n : ir::topological(store))
      if (n->op == Op::Reduce) {
        auto [it, fresh] = places_.try_emplace(n.get(), place);
        if (!fresh && !(it->second == place)) it->second = {};
      }
  }

  // ---- statements
  Level level(UOp range) const {
    const Axis* axis = schedule_.find(range);
    return axis ? Level{range, axis->lanes, axis->unroll} : Level{range};
  }

  void add_store(UOp store) {
    const Place place = place_of(store);
    Statement s{store, {}, place.depth, {}, turn_number(place.turn), {}};
    for (size_t i = 0; i < place.depth; ++i) s.loops.push_back(level(out_.outer[i]));
    std::vector<UOp> inner;
    for (UOp n : body_of(store))
      if (n->op == Op::Range && range_kind(n) == AxisKind::Inner && !one_trip(n)) inner.push_back(n);
    // A range on which only a REDUCE in the value depends is an inner range of the store as well.
    const RangeSet& free = ranges_.free(store);
    for (UOp n : ir::topological(store))
      if (n->op == Op::Range && range_kind(n) == AxisKind::Inner && !one_trip(n) && free[ranges_.number(n)] &&
          std::find(inner.begin(), inner.end(), n) == inner.end())
        inner.push_back(n);
    std::sort(inner.begin(), inner.end(), [](UOp a, UOp b) { return range_id(a) < range_id(b); });
    for (UOp r : inner) s.loops.push_back(level(r));
    if (!inner.empty()) s.loops[s.own].turn = s.turn;
    add_values(s, place);
    finish(std::move(s));
    if (int p = rewritten(param_of(store)->integer()); p >= 0) ++versions_[static_cast<size_t>(p)];
  }

  /// Makes the REDUCEs that s reads, and those they read, sources first.
  void add_values(Statement& s, const Place& place) {
    for (UOp n : body_of(s.node))
      if (n->op == Op::Reduce && n != s.node) s.deps.push_back({add_reduce(n, s.loops, place), Dep::Why::Value});
  }

  /// The lanes of a REDUCE's innermost loop: its Tree's, unless a REDUCE inside that loop has lanes of its own.
  int vector_lanes(UOp reduce) {
    const int lanes = reduce->reduction().tree.lanes;
    if (lanes == 1) return 1;
    const size_t last = ranges_.number(reduce->src.back());
    for (UOp n : ir::topological(reduce))
      if (n->op == Op::Reduce && n != reduce && n->reduction().tree.lanes > 1 && ranges_.free(n)[last]) return 1;
    return lanes;
  }

  /// The statement of `reduce` inside the loops of its user. Recurses on the nesting of REDUCEs only.
  int add_reduce(UOp reduce, const std::vector<Level>& around, const Place& place) {
    const RangeSet free = ranges_.free(reduce);
    size_t depth = around.size();
    while (depth > 0 && !free[ranges_.number(around[depth - 1].range)]) --depth;
    Statement s{reduce, {around.begin(), around.begin() + static_cast<long>(depth)}, depth, {}, -1, {}};
    Key key{reduce.get(), versions_seen(reduce), {}};
    for (const Level& l : s.loops) key.around.emplace_back(l.range.get(), l.lanes, l.unroll, l.turn);
    if (auto it = made_.find(key); it != made_.end()) return it->second;

    std::vector<UOp> own = ranges_of(reduce);
    for (size_t i = 0; i < own.size(); ++i)
      if (!one_trip(own[i])) s.loops.push_back({own[i], i + 1 == own.size() ? vector_lanes(reduce) : 1});
    const bool outermost =
        depth == place.depth && std::all_of(s.loops.begin(), s.loops.begin() + static_cast<long>(depth),
                                            [](const Level& l) { return range_kind(l.range) == AxisKind::Outer; });
    if (outermost && places_.at(reduce.get()) == place && s.loops.size() > depth)
      s.turn = s.loops[depth].turn = turn_number(place.turn);
    add_values(s, place);
    int at = finish(std::move(s));
    made_.emplace(std::move(key), at);
    return at;
  }

  // ---- order by memory
  struct Key {
    ir::Node* node;
    std::vector<int> versions;
    std::vector<std::tuple<ir::Node*, int, int, int>> around;
    auto operator<=>(const Key&) const = default;
  };
  /// The versions of what a REDUCE reads, also through REDUCEs in it.
  std::vector<int> versions_seen(UOp reduce) {
    std::vector<int> seen(out_.rewritten.size(), -1);
    if (seen.empty()) return seen;
    for (UOp n : ir::topological(reduce))
      if (n->op == Op::Load)
        if (int p = rewritten(param_of(n)->integer()); p >= 0)
          seen[static_cast<size_t>(p)] = versions_[static_cast<size_t>(p)];
    return seen;
  }

  struct Access {
    int statement;
    UOp node;
    bool store;
  };
  int finish(Statement&& s) {
    const int self = static_cast<int>(out_.list.size());
    s.versions = versions_;
    for (UOp n : body_of(s.node)) {
      if (n->op != Op::Load && n->op != Op::Store) continue;
      const int64_t slot = param_of(n)->integer();
      const bool store = n->op == Op::Store;
      if (!stored_.contains(slot)) continue;
      for (const Access& before : accesses_[slot])
        if (before.statement != self && (before.store || store))
          s.deps.push_back(
              {before.statement, index_of(before.node) == index_of(n) ? Dep::Why::Element : Dep::Why::Memory});
      accesses_[slot].push_back({self, n, store});
    }
    out_.list.push_back(std::move(s));
    return self;
  }

  const Kernel& kernel_;
  const Schedule& schedule_;
  Ranges& ranges_;
  Statements out_;
  std::set<int64_t> stored_;
  std::vector<int> versions_;
  std::unordered_map<ir::Node*, Place> places_;
  std::map<Key, int> made_;
  std::map<int64_t, std::vector<Access>> accesses_;
};

}  // namespace

bool one_trip(UOp range) { return range->src[0]->op == Op::Const && range->src[0]->scalar().as_int() == 1; }

Statements make_statements(const Kernel& kernel, const Schedule& schedule, Ranges& ranges) {
  return Builder(kernel, schedule, ranges).run();
}

void verify(const Statements& statements, Ranges& ranges) {
  for (size_t i = 0; i < statements.list.size(); ++i) {
    const Statement& s = statements.list[i];
    RangeSet open;
    for (const Level& l : s.loops) open.set(ranges.number(l.range));
    for (UOp n : body_of(s.node))
      if (n->op == Op::Range && !one_trip(n) && !open[ranges.number(n)])
        throw InternalError(
            fmt::format("codegen: statement {} depends on range {} but does not run in it", i, range_id(n)));
    for (const Dep& d : s.deps)
      if (d.on >= static_cast<int>(i))
        throw InternalError(fmt::format("codegen: statement {} depends on the later {}", i, d.on));
  }
}

std::string to_string(const Level& l) {
  constexpr std::string_view kKind[] = {"outer", "inner"};
  std::string text = fmt::format("{} {}", kKind[static_cast<int>(range_kind(l.range))], range_id(l.range));
  if (l.lanes > 1) text += fmt::format(" lanes {}", l.lanes);
  if (l.unroll > 1) text += fmt::format(" unroll {}", l.unroll);
  if (l.turn >= 0) text += fmt::format(" at turn {}", l.turn);
  return text;
}

std::string to_string(const Statements& statements) {
  std::string text;
  for (size_t i = 0; i < statements.list.size(); ++i) {
    const Statement& s = statements.list[i];
    const bool sum = s.is_reduce();
    text += fmt::format("{}: {}", i, sum ? fmt::format("Reduce {}", ir::name_of(s.node->reduction().combine))
                                         : fmt::format("Store p{}", s.node->src[0]->integer()));
    for (const Level& l : s.loops) text += fmt::format(" [{}]", to_string(l));
    for (const Dep& d : s.deps) text += fmt::format(" after {}", d.on);
    if (s.turn >= 0) text += fmt::format(" at turn {}", s.turn);
    text += "\n";
  }
  return text;
}

}  // namespace sinter::codegen
