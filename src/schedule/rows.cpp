// Loops over one row: which inner axes may be one, and in which order loops stand. A loop that is bound by a reduction
// stands inside those that the reduction depends on, and the loops of one reduction stand in the order of its elements;
// as long as that relation has no circle, no loop ever stands inside itself.
#include <map>

#include "schedule/partitioner.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

/// Names of axes under pairs that are not unified yet.
class Names {
 public:
  explicit Names(const AxisPairs& pairs) {
    for (auto [a, b] : pairs) join(a, b);
  }
  int of(int a) const {
    for (auto it = up_.find(a); it != up_.end(); it = up_.find(a)) a = it->second;
    return a;
  }

 private:
  void join(int a, int b) {
    a = of(a), b = of(b);
    if (a != b) up_[b] = a;
  }
  std::map<int, int> up_;
};

bool distinct(const std::vector<int>& axes, const Names& names) {
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (names.of(axes[i]) == names.of(axes[j])) return false;
  return true;
}

using Edges = std::map<int, std::vector<int>>;  ///< loop -> loops inside it

/// Does no way along the edges come back?
bool acyclic(const Edges& edges) {
  std::map<int, int> state;  // 1 open, 2 done
  for (const auto& [root, first] : edges) {
    std::vector<std::pair<int, size_t>> path{{root, 0}};
    if (state[root] == 2) continue;
    state[root] = 1;
    while (!path.empty()) {
      auto& [a, next] = path.back();
      auto it = edges.find(a);
      if (it == edges.end() || next == it->second.size()) {
        state[a] = 2;
        path.pop_back();
        continue;
      }
      const int b = it->second[next++];
      if (state[b] == 1) return false;
      if (state[b] == 2) continue;
      state[b] = 1;
      path.push_back({b, 0});
    }
  }
  return true;
}

}  // namespace

/// Two indices of one value: do they differ in loops over the same full extents only? `pairs` gets what must become one
/// axis, `lost` the outer ranges among them.
bool Partitioner::siblings(const Kernel& k, IndexId a, IndexId b, AxisPairs& pairs, std::vector<int>& lost) {
  const Index x = space_[space_.normal(a)], y = space_[space_.normal(b)];
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
bool Partitioner::loops_stay_apart(const Kernel& k, const AxisPairs& pairs, const std::vector<int>& lost) {
  const Names names(pairs);
  auto outer = [&](int a) {
    return std::any_of(k.outer.begin(), k.outer.end(),
                       [&](int o) { return !contains(lost, o) && names.of(o) == names.of(a); });
  };
  for (const Stored& o : k.outputs)
    if (!distinct(space_.axes_of(space_.normal(o.at)), names)) return false;
  Edges edges;
  for (const Nest& n : k.nests) {
    std::vector<int> all = space_.axes_of(space_.normal(n.at)), own = space_.expand(n.axes);
    std::vector<int> loops = own, around = all;
    std::erase_if(loops, outer);
    std::erase_if(around, outer);
    for (int a : around)
      for (int b : loops) edges[names.of(a)].push_back(names.of(b));
    for (size_t i = 1; i < loops.size(); ++i) edges[names.of(loops[i - 1])].push_back(names.of(loops[i]));
    all.insert(all.end(), own.begin(), own.end());
    if (!distinct(all, names)) return false;
  }
  return acyclic(edges);
}

/// When all is decided: loops that read one buffer along the same row, or that run over equal extents at one place, are
/// one range, so that they can be one loop.
void Partitioner::share_rows(Kernel& k) {
  auto join = [&](const AxisPairs& pairs) {
    if (pairs.empty() || !loops_stay_apart(k, pairs, {})) return;
    for (auto [a, b] : pairs) space_.unify(a, b);
    refresh(k);
  };
  std::vector<int> stages;
  for (const auto& [s, indices] : k.reads)
    if (indices.size() > 1) stages.push_back(s);
  std::sort(stages.begin(), stages.end());
  for (int s : stages) {
    const std::vector<IndexId> ix = k.reads[s];
    for (size_t i = 1; i < ix.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        AxisPairs pairs;
        std::vector<int> lost;
        if (siblings(k, ix[j], ix[i], pairs, lost) && lost.empty()) join(pairs);
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
    for (const Stored& o : k.outputs) join(pair_up(loops_of(o.at), k.nests[i].axes));
  }
}

/// Fills Kernel::inner: the loops of stores first, as they lie in memory, but each after those it stands in.
void Partitioner::order_loops(Kernel& k) const {
  std::vector<int> all;
  auto add = [&](int a) {
    if (!contains(k.outer, a)) add_once(all, a);
  };
  for (const Stored& o : k.outputs)
    for (const DimIndex& d : space_[o.at])
      for (const Digit& digit : d.digits) add(digit.axis);
  for (const Nest& n : k.nests)
    for (int a : n.axes) add(a);
  auto waits = [&](int a) {
    return std::any_of(k.nests.begin(), k.nests.end(), [&](const Nest& n) {
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
