// Two kernels become one with several outputs where their outer ranges correspond through what both of them use.
#include <algorithm>
#include <map>

#include "schedule/partitioner.h"

namespace sinter::schedule {
namespace {

bool contains(const std::vector<int>& list, int x) { return std::find(list.begin(), list.end(), x) != list.end(); }

}  // namespace

/// Joins those of the kernels that need stage s and fit the largest one among them.
void Partitioner::merge_users(int s, std::vector<int>& kernels) {
  std::vector<int> order = kernels;
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::pair(-points(at(a).outer), a) < std::pair(-points(at(b).outer), b); });
  Pairing pairing;
  for (size_t i = 1; i < order.size(); ++i)
    if (can_merge(order[0], order[i], s, pairing)) merge(order[0], order[i], pairing);
  kernels = roots(kernels);
}

/// After the visit: kernels of one level that run the same outer ranges over one buffer read it once. A buffer far
/// smaller than the loops is no reason: every kernel reads the learning rate.
void Partitioner::merge_readers() {
  for (size_t s = 0; s < graph_.stages.size(); ++s) {
    if (graph_.stages[s].kind != StageKind::Buffer || users_[s].size() < 2) continue;
    std::map<int, std::vector<int>> by_level;
    for (int k : roots(users_[s])) by_level[at(k).level].push_back(k);
    for (auto& [level, group] : by_level) {
      if (group.size() < 2 || group.size() > 64) continue;
      int64_t loops = 0;
      for (int k : group) loops = std::max(loops, points(space_.expand(at(k).outer)));
      if (stage(static_cast<int>(s)).numel > 1 && 2 * stage(static_cast<int>(s)).numel >= loops)
        merge_users(static_cast<int>(s), group);
    }
  }
}

bool Partitioner::can_merge(int a, int b, int s, Pairing& pairing) {
  Kernel &k1 = at(a), &k2 = at(b);
  if (k1.level != k2.level && (k1.level < k2.level ? k1 : k2).has_feeders) return false;
  if (k1.reads.size() + k2.reads.size() + k1.wanted.size() + k2.wanted.size() + k1.outputs.size() + k2.outputs.size() >
      static_cast<size_t>(prices_.max_buffers))
    return false;
  if (k1.evaluations + k2.evaluations > prices_.max_stages || k1.loops + k2.loops > prices_.max_loops) return false;
  // Two products share nothing that pays for the broken tile.
  if (k1.contraction_time > prices_.launch && k2.contraction_time > prices_.launch) return false;
  // A scatter's loop inside is its own.
  auto scatters = [&](const Kernel& k) {
    return std::any_of(k.outputs.begin(), k.outputs.end(), [&](const Stored& o) {
      return stage(o.stage).kind == StageKind::ScatterAdd || stage(o.stage).kind == StageKind::Box;
    });
  };
  if (scatters(k1) || scatters(k2)) return false;

  std::vector<IndexId>&u1 = uses(a, s), &u2 = uses(b, s);
  normalise(u1);
  normalise(u2);
  if (u1.size() != 1 || u2.size() != 1) return false;
  for (size_t d = 0; d < space_[u1[0]].size(); ++d) space_.refine(u1[0], u2[0], d);
  normalise(u1);
  normalise(u2);
  k1.outer = space_.expand(k1.outer);
  k2.outer = space_.expand(k2.outer);
  const Index &i1 = space_[u1[0]], &i2 = space_[u2[0]];
  const Shape& shape = stage(s).node->shape;
  pairing.axes.clear();
  for (size_t d = 0; d < i1.size(); ++d) {
    std::vector<int> x, y;
    if (!space_.covers(i1[d], shape[d].bound(), x) || !space_.covers(i2[d], shape[d].bound(), y)) return false;
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!(space_.size(x[i]) == space_.size(y[i])) || contains(k1.outer, x[i]) != contains(k2.outer, y[i]))
        return false;
      for (auto [p, q] : pairing.axes)
        if (p == x[i] || q == y[i]) return false;
      pairing.axes.push_back({x[i], y[i]});
    }
  }
  auto paired = [&](const std::vector<int>& outer, bool first) {
    return std::all_of(outer.begin(), outer.end(), [&](int o) {
      return std::any_of(pairing.axes.begin(), pairing.axes.end(),
                         [&](auto p) { return (first ? p.first : p.second) == o; });
    });
  };
  return !pairing.axes.empty() && paired(k1.outer, true) && paired(k2.outer, false);
}

/// b goes into a.
void Partitioner::merge(int a, int b, const Pairing& pairing) {
  Kernel &k1 = at(a), &k2 = at(b);
  for (auto [p, q] : pairing.axes) space_.unify(p, q);
  auto append = [](auto& into, auto& from) {
    into.insert(into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  };
  append(k1.reduced, k2.reduced);
  append(k1.members, k2.members);
  append(k1.outputs, k2.outputs);
  append(k1.contraction_outer, k2.contraction_outer);
  for (auto [into, from] : {std::pair{&k1.reads, &k2.reads}, std::pair{&k1.wanted, &k2.wanted}}) {
    for (auto& [stage, indices] : *from) append((*into)[stage], indices);
    from->clear();
  }
  for (auto* uses : {&k1.reads, &k1.wanted})
    for (auto& [stage, indices] : *uses) normalise(indices);
  k1.level = std::max(k1.level, k2.level);
  k1.has_feeders |= k2.has_feeders;
  k1.time += k2.time;
  k1.contraction_time += k2.contraction_time;
  k1.contractions += k2.contractions;
  k1.loops += k2.loops;
  k1.evaluations += k2.evaluations;
  k2.parent = a;
}

}  // namespace sinter::schedule
