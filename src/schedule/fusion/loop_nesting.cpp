// Loops over one row: which inner axes may be one, and in which order loops stand. A loop that is bound by a reduction
// stands inside those that the reduction depends on, and the loops of one reduction stand in the order of its elements;
// as long as that relation has no circle, no loop ever stands inside itself.
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

/// Does no way along the edges come back? Loops that stand in no other are taken away until none is left.
bool acyclic(Edges edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<int> inside;
  for (size_t before = edges.size() + 1; edges.size() < before;) {
    before = edges.size();
    inside.clear();
    for (auto [a, b] : edges) inside.push_back(b);
    std::sort(inside.begin(), inside.end());
    std::erase_if(edges, [&](auto e) { return !std::binary_search(inside.begin(), inside.end(), e.first); });
  }
  return edges.empty();
}

}  // namespace

/// Two indices of one value: do they differ in loops over the same full extents only? `pairs` gets what must become one
/// axis, `lost` the outer ranges among them.
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

/// Whether the axes may be one, when the kernel has lost some of its outer ones.
bool Partitioner::loops_stay_apart(const FusionGroup& k, const AxisPairs& pairs, const std::vector<int>& lost) {
  const AxisNames names(pairs);
  auto outer = [&](int a) {
    return std::any_of(k.outer.begin(), k.outer.end(),
                       [&](int o) { return !contains(lost, o) && names.of(o) == names.of(a); });
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

/// Whether a product's loops would become those of another one with which it reads nothing in common: in one loop each
/// would take registers from the other's tile, and give it nothing.
bool Partitioner::joins_products(const FusionGroup& k, const AxisPairs& pairs) const {
  const auto shares = [&](const FusionNode& one, const FusionNode& other) {
    return std::any_of(one.sources.begin(), one.sources.end(), [&](const FusionEdge& p) {
      return std::any_of(other.sources.begin(), other.sources.end(),
                         [&](const FusionEdge& q) { return p.node >= 0 && p.node == q.node; });
    });
  };
  const AxisNames names(pairs);
  const auto meet = [&](const ReductionNest& a, const ReductionNest& b) {
    return std::any_of(a.axes.begin(), a.axes.end(), [&](int x) {
      return std::any_of(b.axes.begin(), b.axes.end(), [&](int y) { return x != y && names.of(x) == names.of(y); });
    });
  };
  for (size_t i = 0; i < k.nests.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const FusionNode &one = node(k.nests[i].node), &other = node(k.nests[j].node);
      if (one.contraction && other.contraction && meet(k.nests[i], k.nests[j]) && !shares(one, other)) return true;
    }
  return false;
}

/// When all is decided: loops that read one buffer along the same row, or that run over equal extents at one place, are
/// one range, so that they can be one loop.
void Partitioner::unify_sibling_loops(FusionGroup& k) {
  auto join = [&](const AxisPairs& pairs) {
    if (pairs.empty() || joins_products(k, pairs) || !loops_stay_apart(k, pairs, {})) return;
    for (auto [a, b] : pairs) space_.unify(a, b);
    refresh(k);
  };
  std::vector<int> nodes;
  for (const auto& [s, indices] : k.reads)
    if (indices.size() > 1) nodes.push_back(s);
  std::sort(nodes.begin(), nodes.end());
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
    std::vector<int> axes;
    for (int a : space_.axes_of(space_.normal(at)))
      if (!contains(k.outer, a)) axes.push_back(a);
    return axes;
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

/// Fills FusionGroup::inner: the loops of stores first, as they lie in memory, but each after those it stands in.
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
    return std::any_of(k.nests.begin(), k.nests.end(), [&](const ReductionNest& n) {
      const std::vector<int>& around = space_.axes_of(n.at);
      const auto self = std::find(n.axes.begin(), n.axes.end(), a);
      auto open = [&](int b) { return contains(all, b); };
      return self != n.axes.end() &&
             (std::any_of(around.begin(), around.end(), open) || std::any_of(n.axes.begin(), self, open));
    });
  };
  while (!all.empty()) {
    auto next = std::find_if(all.begin(), all.end(), [&](int a) { return !waits(a); });
    if (next == all.end()) throw InternalError("partition: loops stand inside each other");
    k.inner.push_back(*next);
    all.erase(next);
  }
}

}  // namespace sinter::schedule
