// Loops over one row: which inner axes can be unified, and the order of loops. The loops of a reduction are inside
// those that the reduction depends on, in the order of its axes. If that relation is acyclic, no loop is inside itself.
#include "schedule/fusion/partitioner.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

bool distinct(const std::vector<int>& axes, const AxisNames& names) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (names.of(axes[i]) == names.of(axes[j])) return false;
  return true;
}

using Edges = std::vector<std::pair<int, int>>;  ///< a loop, and one inside it

/// Whether the edges have no cycle: repeatedly removes loops that are in no other loop.
bool acyclic(Edges edges) {
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<int> inside;
  for (size_t before = edges.size() + 1; edges.size() < before;) {
    before = edges.size();
    inside.clear();
    for (auto [a, b] : edges) inside.push_back(b);
    std::ranges::sort(inside);
    std::erase_if(edges, [&](auto e) { return !std::ranges::binary_search(inside, e.first); });
  }
  return edges.empty();
}

}  // namespace

/// Whether two indices of one value differ only in loops over the same full extents. Fills `pairs` with the axes to
/// unify, `lost` with the outer ranges among them.
bool Partitioner::are_siblings(const FusionGroup& k, IndexId a, IndexId b, AxisPairs& pairs, std::vector<int>& lost) {
  const FusionIndex &x = space_[space_.normal(a)], &y = space_[space_.normal(b)];
  for (size_t d = 0; d < x.size(); ++d) {
    if (x[d] == y[d]) continue;
    std::vector<int> p, q;
    int64_t size = 1;
    for (const Digit& digit : x[d].digits) size *= digit.size;
    if (!space_.covers(x[d], size, p) || !space_.covers(y[d], size, q) || p.size() != q.size()) return false;
    for (size_t i = 0; i < p.size(); ++i) {
      if (p[i] == q[i]) continue;
      if (!(space_.size(p[i]) == space_.size(q[i]))) return false;
      add_once(pairs, {p[i], q[i]});
      for (int axis : {p[i], q[i]})
        if (contains(k.outer, axis)) add_once(lost, axis);
    }
  }
  return true;
}

/// Whether the axes can be unified without nesting a loop in itself, when the kernel has lost some outer axes.
bool Partitioner::loops_stay_apart(const FusionGroup& k, const AxisPairs& pairs, const std::vector<int>& lost) {
  const AxisNames names(pairs);
  auto outer = [&](int a) {
    return std::ranges::any_of(k.outer, [&](int o) { return !contains(lost, o) && names.of(o) == names.of(a); });
  };
  for (const KernelStore& o : k.outputs)
    if (!distinct(space_.axes_of(space_.normal(o.at)), names)) return false;
  Edges edges;
  std::vector<int> loops, all;
  for (const ReductionNest& n : k.nests) {
    const std::vector<int>& around = space_.axes_of(space_.normal(n.at));
    loops = n.axes, all = around;
    space_.renew(loops);
    all.insert(all.end(), loops.begin(), loops.end());
    if (!distinct(all, names)) return false;
    std::erase_if(loops, outer);
    for (int a : around)
      if (!outer(a))
        for (int b : loops) edges.push_back({names.of(a), names.of(b)});
    for (size_t i = 1; i < loops.size(); ++i) edges.push_back({names.of(loops[i - 1]), names.of(loops[i])});
  }
  return acyclic(std::move(edges));
}

/// Whether unifying would fuse the loops of two products without a common operand. Each would take registers from the
/// other's tile and gain no reuse.
bool Partitioner::joins_unrelated_products(const FusionGroup& k, const AxisPairs& pairs) const {
  const auto shares = [&](const FusionNode& one, const FusionNode& other) {
    return std::ranges::any_of(one.sources, [&](const FusionEdge& p) {
      return std::ranges::any_of(other.sources, [&](const FusionEdge& q) { return p.node >= 0 && p.node == q.node; });
    });
  };
  const AxisNames names(pairs);
  const auto meet = [&](const ReductionNest& a, const ReductionNest& b) {
    return std::ranges::any_of(a.axes, [&](int x) {
      return std::ranges::any_of(b.axes, [&](int y) { return x != y && names.of(x) == names.of(y); });
    });
  };
  for (size_t i = 0; i < k.nests.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const FusionNode &one = node(k.nests[i].node), &other = node(k.nests[j].node);
      if (one.contraction && other.contraction && meet(k.nests[i], k.nests[j]) && !shares(one, other)) return true;
    }
  return false;
}

/// The last step for a kernel: unifies loops that read one buffer along the same row, or that have equal extents at the
/// same nesting, so that they can be fused.
void Partitioner::unify_sibling_loops(FusionGroup& k) {
  auto join = [&](const AxisPairs& pairs) {
    if (pairs.empty() || joins_unrelated_products(k, pairs) || !loops_stay_apart(k, pairs, {})) return;
    for (auto [a, b] : pairs) space_.unify(a, b);
    refresh(k);
  };
  std::vector<int> nodes;
  for (const auto& [s, indices] : k.reads)
    if (indices.size() > 1) nodes.push_back(s);
  std::ranges::sort(nodes);
  for (int s : nodes) {
    const std::vector<IndexId> ix = k.reads[s];
    for (size_t i = 1; i < ix.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        AxisPairs pairs;
        std::vector<int> lost;
        if (are_siblings(k, ix[j], ix[i], pairs, lost) && lost.empty()) join(pairs);
      }
  }
  auto loops_of = [&](IndexId at) {
    return ir::filtered(space_.axes_of(space_.normal(at)), [&](int a) { return !contains(k.outer, a); });
  };
  auto pair_up = [&](const std::vector<int>& a, const std::vector<int>& b) {
    AxisPairs pairs;
    if (a.size() != b.size()) return pairs;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      if (!(space_.size(a[i]) == space_.size(b[i])) || contains(k.outer, a[i]) || contains(k.outer, b[i]))
        return AxisPairs();
      pairs.push_back({a[i], b[i]});
    }
    return pairs;
  };
  for (size_t i = 0; i < k.nests.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (loops_of(k.nests[i].at) == loops_of(k.nests[j].at)) join(pair_up(k.nests[j].axes, k.nests[i].axes));
    if (!loops_of(k.nests[i].at).empty()) continue;
    for (const KernelStore& o : k.outputs) join(pair_up(loops_of(o.at), k.nests[i].axes));
  }
}

/// Fills FusionGroup::inner: loops of stores first, in memory order, each after the loops around it.
void Partitioner::order_loops(FusionGroup& k) const {
  std::vector<int> all;
  auto add = [&](int a) {
    if (!contains(k.outer, a)) add_once(all, a);
  };
  for (const KernelStore& o : k.outputs)
    for (const DimIndex& d : space_[o.at])
      for (const Digit& digit : d.digits) add(digit.axis);
  for (const ReductionNest& n : k.nests)
    for (int a : n.axes) add(a);
  auto waits = [&](int a) {
    return std::ranges::any_of(k.nests, [&](const ReductionNest& n) {
      const std::vector<int>& around = space_.axes_of(n.at);
      const auto self = std::ranges::find(n.axes, a);
      auto open = [&](int b) { return contains(all, b); };
      return self != n.axes.end() && (std::ranges::any_of(around, open) || std::any_of(n.axes.begin(), self, open));
    });
  };
  while (!all.empty()) {
    auto next = std::ranges::find_if(all, [&](int a) { return !waits(a); });
    if (next == all.end()) throw InternalError("partition: loops are nested in each other");
    k.inner.push_back(*next);
    all.erase(next);
  }
}

}  // namespace sinter::schedule
