// Merges two kernels into one with several outputs. Their axes correspond through the indices of nodes that both use.
// Then either both keep the shared outer ranges and give up the others, or one runs in the first task of ranges that it
// lacks, or its sums go across them (split_reductions.cpp).
#include <map>
#include <tuple>

#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {
namespace {

/// Caps the kernels that read one buffer, and the values shared by two kernels, that are compared.
constexpr size_t kMaxCompared = 64;

bool is_outer(const FusionGroup& k, int a) { return contains(k.outer, a); }

}  // namespace

/// Merges the kernels that need node s into the largest of them, where possible.
void Partitioner::merge_users(int s, std::vector<int>& kernels) {
  std::vector<int> order = kernels;
  auto size = [&](int k) {
    return std::tuple(-at(k).contraction_time, -static_cast<int64_t>(at(k).members.size()), -task_count(at(k).outer),
                      k);
  };
  std::ranges::sort(order, [&](int a, int b) { return size(a) < size(b); });
  for (size_t i = 1; i < order.size(); ++i) {
    const MergePlan form = plan_merge(order[0], order[i], s);
    if (form.price == kNever) continue;
    merges_.push_back({s, order[0], form.pairs, form.price, form.gain, form.why});
    merge(order[0], order[i], form);
  }
  kernels = roots(kernels);
}

/// After the walk: merges kernels of one level that stream the same buffer, so that it is read once. A buffer much
/// smaller than the loops does not count: every kernel reads the learning rate.
void Partitioner::merge_readers() {
  for (size_t s = 0; s < graph_.nodes.size(); ++s) {
    if (graph_.nodes[s].kind != FusionNodeKind::Buffer || users_[s].size() < 2) continue;
    std::map<int, std::vector<int>> by_level;
    for (int k : roots(users_[s])) by_level[at(k).level].push_back(k);
    for (auto& [level, group] : by_level) {
      if (group.size() < 2 || group.size() > kMaxCompared) continue;
      int64_t loops = 0;
      for (int k : group) loops = std::max(loops, task_count(space_.expand(at(k).outer)));
      if (node(static_cast<int>(s)).numel > 1 && 2 * node(static_cast<int>(s)).numel >= loops)
        merge_users(static_cast<int>(s), group);
    }
  }
}

/// Adds to `pairs` the axes over which both indices of one value run alike, unless they contradict earlier pairs.
void Partitioner::pair_axes(IndexId first, IndexId second, AxisPairs& pairs) {
  for (size_t d = 0; d < space_[first].size(); ++d) space_.refine(first, second, d);
  const FusionIndex &x = space_[space_.normal(first)], &y = space_[space_.normal(second)];
  AxisPairs all = pairs;
  for (size_t d = 0; d < x.size(); ++d) {
    if (x[d].opaque || y[d].opaque || x[d].digits.size() != y[d].digits.size() || x[d].offset != y[d].offset) continue;
    for (size_t i = 0; i < x[d].digits.size(); ++i) {
      const Digit &p = x[d].digits[i], &q = y[d].digits[i];
      if (p.div != 1 || q.div != 1 || !(space_.size(p.axis) == space_.size(q.axis))) return;
      const int of_p = partner(all, p.axis, true), of_q = partner(all, q.axis, false);
      if (of_p < 0 && of_q < 0)
        all.push_back({p.axis, q.axis});
      else if (of_p != q.axis)
        return;
    }
  }
  pairs = std::move(all);
}

/// The correspondence of two kernels' axes: through node s, then through everything else that both read.
AxisPairs Partitioner::correspondence(int a, int b, int s) {
  FusionGroup &k1 = at(a), &k2 = at(b);
  AxisPairs pairs;
  auto best = [&](const FusionGroup& k, std::vector<IndexId>& indices) {
    normalize(indices);
    auto count = [&](IndexId i) {
      const std::vector<int>& axes = space_.axes_of(i);
      return std::ranges::count_if(axes, [&](int x) { return is_outer(k, x); });
    };
    return *std::ranges::max_element(indices, [&](IndexId x, IndexId y) { return count(x) < count(y); });
  };
  auto uses = [&](FusionGroup& k, int t) -> std::vector<IndexId>& {
    auto read = k.reads.find(t);
    return read != k.reads.end() ? read->second : k.wanted.at(t);
  };
  auto through = [&](int t) {
    pair_axes(best(k1, uses(k1, t)), best(k2, uses(k2, t)), pairs);
    // Splits rename axes; drop the pairs that are split.
    refresh(k1);
    refresh(k2);
    std::erase_if(pairs, [&](auto p) { return space_.expand({p.first, p.second}).size() > 2; });
  };
  refresh(k1);
  refresh(k2);
  through(s);
  std::vector<int> shared;
  for (const Uses* list : {&k1.wanted, &k1.reads})
    for (const auto& [t, indices] : *list)
      if (t != s && (k2.wanted.contains(t) || k2.reads.contains(t)) && !indices.empty()) shared.push_back(t);
  std::ranges::sort(shared, [&](int x, int y) { return std::pair(-node(x).numel, x) < std::pair(-node(y).numel, y); });
  if (shared.size() > kMaxCompared) shared.resize(kMaxCompared);
  for (int t : shared) {
    const bool covered = std::ranges::all_of(k2.outer, [&](int o) { return partner(pairs, o, false) >= 0; });
    if (covered) break;
    through(t);
  }
  return pairs;
}

/// Time to read what both kernels need.
double Partitioner::shared_reads(const FusionGroup& k1, const FusionGroup& k2) const {
  double ns = 0;
  for (const Uses* list : {&k1.wanted, &k1.reads})
    for (const auto& [t, indices] : *list)
      if (k2.wanted.contains(t) || k2.reads.contains(t)) ns += prices_.transfer(node(t).read_bytes);
  return ns;
}

/// What products lose when a sum of the other kernel shares the loop that they reduce over.
double Partitioner::sums_beside(const FusionGroup& k1, const FusionGroup& k2, const AxisPairs& pairs) const {
  const auto shared = [&](const ReductionNest& m, const ReductionNest& n) {
    return std::ranges::any_of(pairs, [&](auto p) { return contains(m.axes, p.first) && contains(n.axes, p.second); });
  };
  for (const ReductionNest& m : k1.nests)
    for (const ReductionNest& n : k2.nests)
      if (node(m.node).contraction != node(n.node).contraction && shared(m, n))
        return prices_.shared_contraction * (k1.contraction_time + k2.contraction_time);
  return 0;
}

/// Whether all loops of both kernels are those of one pair of products.
bool Partitioner::are_of_one_pair(const FusionGroup& k1, const FusionGroup& k2) const {
  if (k1.nests.empty() || k2.nests.empty()) return false;
  const FusionNode& first = node(k1.nests[0].node);
  return joins_pair(k1, first) && joins_pair(k2, first);
}

/// The cheapest way to merge kernel b into a; none if it costs more than the launch and reads it saves.
MergePlan Partitioner::plan_merge(int a, int b, int s) {
  MergePlan none;
  FusionGroup &k1 = at(a), &k2 = at(b);
  if (k1.level != k2.level && (k1.level < k2.level ? k1 : k2).has_feeders) return none;
  if (k1.reads.size() + k2.reads.size() + k1.wanted.size() + k2.wanted.size() + k1.outputs.size() + k2.outputs.size() >
      static_cast<size_t>(prices_.max_buffers))
    return none;
  if (k1.evaluations + k2.evaluations > prices_.max_nodes ||
      k1.nests.size() + k2.nests.size() > static_cast<size_t>(prices_.max_loops))
    return none;
  // A scatter's inner loop cannot be shared.
  auto scatters = [&](const FusionGroup& k) {
    return std::ranges::any_of(k.outputs, [&](const KernelStore& o) {
      const FusionNodeKind kind = node(o.node).kind;
      return kind == FusionNodeKind::Scatter || kind == FusionNodeKind::Scan || kind == FusionNodeKind::Box ||
             kind == FusionNodeKind::Opaque;
    });
  };
  if (scatters(k1) || scatters(k2)) return none;

  const bool one_pair = are_of_one_pair(k1, k2);
  if (!one_pair && ((has_mma(k1) && !k2.nests.empty()) || (has_mma(k2) && !k1.nests.empty()))) return none;

  const AxisPairs pairs = correspondence(a, b, s);
  if (pairs.empty()) return none;
  const double gain = prices_.launch + shared_reads(k1, k2);
  MergePlan best;
  const double beside = one_pair ? 0 : sums_beside(k1, k2, pairs);
  auto consider = [&](MergePlan u) {
    u.price += beside;
    if (u.price >= best.price || u.price >= gain) return;
    best = std::move(u);
    best.gain = gain;
  };
  consider(plan_row_merge(k1, k2, pairs, s));
  if (k1.contraction_time > prices_.launch && k2.contraction_time > prices_.launch) return best;
  consider(plan_guest_merge(k1, k2, pairs, false));
  consider(plan_guest_merge(k2, k1, pairs, true));
  consider(plan_split_merge(k1, k2, pairs, false));
  consider(plan_split_merge(k2, k1, pairs, true));
  return best;
}

/// Whether the axes of `form` can be unified with the loops of both kernels. Fills in the blocks and the epilogue of
/// sums across outer ranges.
bool Partitioner::can_merge(const FusionGroup& k1, const FusionGroup& k2, MergePlan& form) {
  FusionGroup both;
  const AxisNames names(form.pairs);
  for (int a : form.swapped ? k2.outer : k1.outer)
    if (!contains(form.lost, a)) both.outer.push_back(names.of(a));
  for (const FusionGroup* k : {&k1, &k2}) {
    both.outputs.insert(both.outputs.end(), k->outputs.begin(), k->outputs.end());
    both.members.insert(both.members.end(), k->members.begin(), k->members.end());
    for (ReductionNest n : k->nests) {
      for (int& a : n.axes) a = names.of(a);
      both.nests.push_back(std::move(n));
    }
  }
  if (!loops_stay_apart(both, form.pairs, {})) return false;
  if (split_reductions_of(both).empty()) return k1.blocks.axis < 0 && k2.blocks.axis < 0;
  if (!can_split_reductions(both, form.pairs, form.blocks, form.epilogue)) return false;
  for (const FusionGroup* k : {&k1, &k2})
    if (k->blocks.axis >= 0 && !(BlockedAxis{names.of(k->blocks.axis), k->blocks.size} == form.blocks)) return false;
  // A node that one kernel evaluates only in its epilogue and the other before it would be needed at two times.
  const auto early = [&](const FusionGroup& k, int s) {
    return !contains(k.epilogue, s) && !contains(form.epilogue, s) &&
           std::ranges::any_of(k.members, [&](const Member& m) { return m.node == s; });
  };
  for (const auto& [one, other] : {std::pair{&k1, &k2}, std::pair{&k2, &k1}})
    if (std::ranges::any_of(one->epilogue, [&](int s) { return early(*other, s); })) return false;
  both.blocks = form.blocks;
  const int64_t units = task_count(both.outer, both.blocks);
  form.partial = part_bytes(both) * units;
  form.idle =
      idle(k1.time, task_count(k1.outer, k1.blocks), units) + idle(k2.time, task_count(k2.outer, k2.blocks), units);
  return part_bytes(both) <= prices_.partial_bytes;
}

/// Both keep the outer ranges that they share. Each other outer range must be a loop of the other kernel, where the two
/// meet. The exception are two products over one reduced axis whose own axes fit a register tile.
MergePlan Partitioner::plan_row_merge(const FusionGroup& k1, const FusionGroup& k2, const AxisPairs& pairs, int s) {
  MergePlan u;
  std::vector<int> lost1, lost2;
  bool meet = true, shares_sum = false;
  auto reduced = [](const FusionGroup& k, int a) {
    return std::ranges::any_of(k.nests, [&](const ReductionNest& n) { return contains(n.axes, a); });
  };
  for (int a : k1.outer)
    if (const int b = partner(pairs, a, true); b < 0 || !is_outer(k2, b)) lost1.push_back(a), meet &= b >= 0;
  for (int b : k2.outer)
    if (const int a = partner(pairs, b, false); a < 0 || !is_outer(k1, a)) lost2.push_back(b), meet &= a >= 0;
  for (auto [p, q] : pairs) shares_sum |= reduced(k1, p) && reduced(k2, q);
  if (k1.contraction_time > prices_.launch && k2.contraction_time > prices_.launch) {
    std::vector<int> rest = ir::filtered(k1.outer, [&](int a) { return !contains(lost1, a); });
    if (!shares_sum || task_count(lost1) > prices_.tile || task_count(lost2) > prices_.tile ||
        task_count(rest) < prices_.parallel || node(s).kind == FusionNodeKind::Buffer ||
        node(s).bytes < prices_.cached_bytes)
      return u;
    u.why = "products over one reduced axis";
  } else {
    if (!meet) return u;
    u.why = lost1.empty() && lost2.empty() ? "same outer ranges" : "rows of one are loops of the other";
  }
  for (auto [p, q] : pairs)
    if (is_outer(k1, p) == is_outer(k2, q) || contains(lost1, p) || contains(lost2, q)) u.pairs.push_back({p, q});
  u.lost = lost1;
  u.lost.insert(u.lost.end(), lost2.begin(), lost2.end());
  const double price = serialization_cost(k1, lost1, 0) + serialization_cost(k2, lost2, 0);
  if (!can_merge(k1, k2, u)) return {};
  u.price = std::max(price, u.idle);
  return u;
}

/// All outer ranges of the guest are ranges of the host. If the host has more, the guest runs in their first task.
MergePlan Partitioner::plan_guest_merge(const FusionGroup& host, const FusionGroup& guest, const AxisPairs& pairs,
                                        bool swapped) {
  MergePlan u;
  for (int b : guest.outer) {
    const int a = partner(pairs, b, swapped);
    if (a < 0 || !is_outer(host, a)) return u;
  }
  if (guest.outer.size() == host.outer.size()) return u;
  for (int a : host.outer) {
    const int b = partner(pairs, a, !swapped);
    if (may_be_empty(a) && (b < 0 || !is_outer(guest, b))) return u;
  }
  if (task_count(guest.outer) < prices_.parallel && guest.time > prices_.launch) return u;
  for (auto [p, q] : pairs)
    if (is_outer(swapped ? guest : host, p) == is_outer(swapped ? host : guest, q)) u.pairs.push_back({p, q});
  if (!can_merge(swapped ? guest : host, swapped ? host : guest, u)) return {};
  u.swapped = swapped;
  u.why = "in the first task of a range that it lacks";
  // On a GPU, one thread does the sum that the threads of a block would share.
  const double serial = guest.nests.empty() ? 0 : guest.time * static_cast<double>(prices_.threads_per_block - 1);
  u.price = std::max(0.0, u.idle) + serial;
  // Lanes and tiles of a product go along ranges that the guest lacks. Its sums are scalar, and it rereads what the
  // product reads by tiles.
  if (prices_.lanes > 1 && host.contractions && !guest.nests.empty())
    u.price += guest.time * static_cast<double>(prices_.lanes - 1) + shared_reads(host, guest);
  return u;
}

/// Merges b into a.
void Partitioner::merge(int a, int b, const MergePlan& form) {
  FusionGroup &k1 = at(a), &k2 = at(b);
  if (form.swapped) k1.outer = k2.outer;
  for (auto [p, q] : form.pairs) space_.unify(p, q);
  auto append = [](auto& into, auto& from) {
    into.insert(into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  };
  append(k1.nests, k2.nests);
  append(k1.members, k2.members);
  append(k1.outputs, k2.outputs);
  append(k1.contraction_outer, k2.contraction_outer);
  for (auto [into, from] : {std::pair{&k1.reads, &k2.reads}, std::pair{&k1.wanted, &k2.wanted}}) {
    for (auto& [node, indices] : *from) append((*into)[node], indices);
    from->clear();
  }
  k1.epoch = k2.epoch = 0;
  for (auto& [node, sums] : k2.within)
    for (int sum : sums) add_once(k1.within[node], sum);
  k2.within.clear();
  refresh(k1);
  serialize_axes(k1, form.lost);
  if (form.blocks.axis >= 0) {
    k1.blocks = {space_.find(form.blocks.axis), form.blocks.size};
    space_.forbid_split(k1.blocks.axis);
    for (const std::vector<int>& list : {form.epilogue, k2.epilogue})
      k1.epilogue.insert(k1.epilogue.end(), list.begin(), list.end());
    std::ranges::sort(k1.epilogue);
    k1.epilogue.erase(std::unique(k1.epilogue.begin(), k1.epilogue.end()), k1.epilogue.end());
    find_epilogue_wants(a);
  }
  for (auto* uses : {&k1.reads, &k1.wanted})
    for (auto& [node, indices] : *uses) normalize(indices);
  k1.level = std::max(k1.level, k2.level);
  k1.has_feeders |= k2.has_feeders;
  k1.time += k2.time;
  k1.contraction_time += k2.contraction_time;
  k1.contractions += k2.contractions;
  k1.evaluations += k2.evaluations;
  const bool is_full = cut_trackers_[a].is_full || cut_trackers_[b].is_full;
  cut_trackers_[a] = {.is_full = is_full};
  k2.parent = a;
}

}  // namespace sinter::schedule
