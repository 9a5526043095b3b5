// Sums across outer ranges. The last such range runs in blocks. Each task sums its part, and the epilogue sums the
// parts in order and evaluates what depends on the sum. The blocks are those of the sum's ReductionTree, so the split
// and the unsplit form give the same bits.
#include "ir/combine.h"
#include "schedule/fusion/partitioner.h"
#include "schedule/simplify/choose_reductions.h"

namespace sinter::schedule {
namespace {

/// Most blocks of a symbolic range: any of them may be empty.
constexpr int64_t kMaxEmpty = 256;

}  // namespace

int count_split_axes(const std::vector<int>& axes, const std::vector<int>& outer) {
  size_t n = 0;
  while (n < axes.size() && contains(outer, axes[n])) ++n;
  for (size_t i = n; i < axes.size(); ++i)
    if (contains(outer, axes[i])) return -1;
  return static_cast<int>(n);
}

std::vector<SplitReduction> split_reductions_of(const FusionGroup& k) {
  std::vector<SplitReduction> out;
  for (const ReductionNest& n : k.nests)
    if (const int count = count_split_axes(n.axes, k.outer); count > 0)
      out.push_back({n.node, {n.axes.begin(), n.axes.begin() + count}});
  return out;
}

bool reduces_tree_groups(const BlockedAxis& blocks, const ir::ReductionTree& tree, int64_t inside) {
  return tree.group > 0 && blocks.size * inside != tree.block;
}

bool shares_partials(const FusionGraph& graph, const SplitReduction& a, const SplitReduction& b) {
  return a.second == b.second && is_same_reduction(graph.nodes[a.first], graph.nodes[b.first]);
}

Dim tasks_along(const IndexSpace& space, const FusionGroup& k, int axis) {
  return axis == k.blocks.axis ? Dim(k.blocks.count(space.bound(axis))) : space.size(axis);
}

/// Tasks of these outer ranges, one of which may run in blocks.
int64_t Partitioner::task_count(const std::vector<int>& outer, const BlockedAxis& blocks) const {
  int64_t n = 1;
  for (int a : outer) {
    const int64_t size = space_.bound(a);
    n *= a == blocks.axis ? blocks.count(size) : size;
  }
  return n;
}

/// The members that wait for the sums `seeds`: those sums and everything in the kernel that depends on them.
std::vector<int> Partitioner::downstream(const std::vector<Member>& members, const std::vector<int>& seeds) const {
  std::vector<int> order = ir::mapped(members, &Member::node);
  std::ranges::sort(order);  // node numbers are topological, sources first
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::vector<int> found;
  for (int s : order) {
    bool waits = contains(seeds, s);
    for (const FusionEdge& src : node(s).sources) waits = waits || std::ranges::binary_search(found, src.node);
    if (waits) found.push_back(s);
  }
  return found;
}

/// Elements of the sum per index of the last of its first `count` axes.
int64_t Partitioner::inside(const ReductionNest& n, int count) const {
  int64_t elements = 1;
  for (size_t i = static_cast<size_t>(count); i < n.axes.size(); ++i) elements *= space_.bound(n.axes[i]);
  return elements;
}

/// The axes that must be outer ranges if a sum goes across its first `count` axes. A task's sum that has a
/// ReductionTree (lanes, or a `group` of blocks) is one unbroken loop nest, so no loop over result axes may stand
/// inside it: all axes of its result must be outer ranges.
std::vector<int> Partitioner::around_tree(const ReductionNest& n, bool group) {
  if (node(n.node).uop->reduction().tree.lanes <= 1 && !group) return {};
  return space_.axes_of(space_.normal(n.at));
}

/// The outer ranges that split reductions need: those they go across, and the result axes of trees.
std::vector<int> Partitioner::required_outer_axes(const FusionGroup& k) {
  std::vector<int> out;
  for (const ReductionNest& n : k.nests) {
    const int count = count_split_axes(n.axes, k.outer);
    if (count <= 0) continue;
    for (int i = 0; i < count; ++i) add_once(out, n.axes[i]);
    const ir::ReductionTree& tree = node(n.node).uop->reduction().tree;
    const int64_t elements = inside(n, count);
    for (int a : around_tree(n, tree.group > 0 && elements > 0 && tree.block % elements != 0)) add_once(out, a);
  }
  return out;
}

/// Whether the kernel can have the outer ranges `k.outer` with sums across some of them. Fills in the blocks and the
/// members that wait for the sums. `pairs`: axes to unify; the first of each pair is in `k.outer`.
bool Partitioner::can_split_reductions(const FusionGroup& k, const AxisPairs& pairs, BlockedAxis& blocks,
                                       std::vector<int>& epilogue) {
  const AxisNames names(pairs);
  auto named = [&](std::vector<int> axes) {
    for (int& a : axes) a = names.of(a);
    return axes;
  };
  std::vector<int> seeds, across;
  std::vector<int64_t>
      sizes;  // allowed block sizes: a block of each sum's ReductionTree, or a group if it is whole indices
  bool fixed = false;
  int last = -1;
  for (const ReductionNest& n : k.nests) {
    const std::vector<int> axes = named(n.axes);
    const int count = count_split_axes(axes, k.outer);
    if (count < 0) return false;
    if (count == 0) continue;
    const FusionNode& st = node(n.node);
    if (st.kind != FusionNodeKind::Reduce || st.contraction) return false;
    const int axis = axes[static_cast<size_t>(count) - 1];
    if (last >= 0 && last != axis) return false;
    last = axis;
    const ir::ReductionTree& tree = st.uop->reduction().tree;
    if (is_float(st.uop->src[0]->dtype)) {  // as all sources are, except for positions of extremes
      // A block is a number of elements. How many indices that is must not change from call to call.
      if (std::any_of(axes.begin() + 1, axes.end(), [&](int a) { return space_.size(a).symbolic(); })) return false;
      std::vector<int64_t> possible;
      const int64_t elements = inside(n, count);
      for (const int64_t part : {tree.block, tree.block * tree.group}) {
        if (part == 0 || elements == 0 || part % elements) continue;
        // Blocks of a nested axis must divide it. Otherwise a block of the tree would span two of its outer iterations.
        if (count > 1 && space_.bound(axis) % (part / elements)) continue;
        if (!fixed || contains(sizes, part / elements)) possible.push_back(part / elements);
      }
      if (possible.empty()) return false;
      sizes = std::move(possible);
      fixed = true;
    }
    seeds.push_back(n.node);
    for (int i = 0; i < count; ++i) add_once(across, axes[i]);
  }
  if (last < 0) return false;
  blocks.axis = last;
  blocks.size = fixed ? sizes[0] : rows_in_block(space_.bound(last), prices_);
  for (const ReductionNest& n : k.nests) {
    const int count = count_split_axes(named(n.axes), k.outer);
    if (count == 0) continue;
    for (int a : around_tree(n, reduces_tree_groups(blocks, node(n.node).uop->reduction().tree, inside(n, count))))
      if (!contains(k.outer, names.of(a))) return false;
  }
  if (blocks.size == 0 || blocks.size >= space_.bound(last)) return false;
  if (space_.size(last).symbolic() && blocks.count(space_.bound(last)) > kMaxEmpty) return false;
  // Only the last range has tasks in any case. An empty other range has no first task that could store.
  for (const KernelStore& o : k.outputs) {
    const std::vector<int> axes = named(space_.axes_of(space_.normal(o.at)));
    for (int a : k.outer)
      if (a != last && may_be_empty(a) && !contains(axes, a)) return false;
  }
  // Only the last range has blocks: sums across the others alone would be cut at every index.
  epilogue = downstream(k.members, seeds);
  auto crosses = [&](const std::vector<int>& axes) {
    return std::ranges::any_of(axes, [&](int a) { return contains(across, names.of(a)); });
  };
  for (const Member& m : k.members) {
    if (!std::ranges::binary_search(epilogue, m.node)) continue;
    for (IndexId i : m.at)
      if (crosses(space_.axes_of(space_.normal(i)))) return false;  // used inside the loops that must end first
    if (!contains(seeds, m.node)) continue;
    for (const FusionEdge& src : node(m.node).sources)
      if (std::ranges::binary_search(epilogue, src.node)) return false;  // a sum over a value that is not known yet
    if (m.at.size() != 1 || !aligned(node(m.node), space_.normal(m.at[0]))) return false;
    if (std::ranges::count_if(k.members, [&](const Member& o) { return o.node == m.node; }) != 1) return false;
  }
  for (const ReductionNest& n : k.nests)
    if (std::ranges::binary_search(epilogue, n.node) && !contains(seeds, n.node) && crosses(n.axes)) return false;
  return true;
}

/// Bytes that one task stores for all sums across outer ranges.
int64_t Partitioner::part_bytes(const FusionGroup& k) const {
  const std::vector<SplitReduction> sums = split_reductions_of(k);
  int64_t bytes = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    auto shares = [&](const SplitReduction& other) { return shares_partials(graph_, other, sums[i]); };
    if (std::any_of(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(i), shares)) continue;
    const FusionNode& s = node(sums[i].first);
    for (DType t : ir::accumulator_types(s.uop)) bytes += s.numel * static_cast<int64_t>(size_of(t));
  }
  return bytes;
}

/// Extra time if `ns` of work runs on `to` instead of `from` tasks, of which `most` run at once; negative if faster.
double Partitioner::idle(double ns, int64_t from, int64_t to, int64_t most) const {
  auto units = [&](int64_t n) { return static_cast<double>(std::clamp<int64_t>(n, 1, most)); };
  return ns * (units(from) / units(to) - 1);
}

/// Loop interchange: axes that the kernel's sums run over become its outer ranges, one of them in blocks, and the
/// former outer ranges become loops. A value that depends on those axes only is then computed once per task instead of
/// once per element of the result.
InlineCost Partitioner::interchange_cost(FusionGroup& k, const FusionNode& s, IndexId ix) {
  InlineCost out;
  if (k.contractions || k.blocks.axis >= 0) return out;
  if (is_opaque(space_[ix])) return out;
  const std::vector<int>& axes = space_.axes_of(ix);
  FusionGroup interchanged;
  for (const ReductionNest& n : k.nests)
    for (int a : n.axes)
      if (contains(axes, a)) add_once(interchanged.outer, a);
  if (interchanged.outer.empty()) return out;
  for (int a : axes)
    if (!contains(interchanged.outer, a)) return out;
  interchanged.members = k.members;
  interchanged.outputs = k.outputs;
  interchanged.nests = k.nests;
  if (!can_split_reductions(interchanged, {}, out.blocks, out.epilogue) || !loops_stay_apart(interchanged, {}, {}))
    return {};
  const int64_t result = part_bytes(interchanged), units = task_count(interchanged.outer, out.blocks);
  if (result > prices_.partial_bytes) return {};
  out.outer = interchanged.outer;
  out.ns = s.own + idle(k.time + s.own, task_count(k.outer, k.blocks), units) +
           2 * static_cast<double>(result * units) / prices_.cached;
  out.how = "kernel interchanged, sums across its outer range";
  return out;
}

/// For a sum that only the epilogue needs, in a kernel whose other sums go across outer ranges: it goes across them
/// too, if it has as many elements in equal blocks.
InlineCost Partitioner::split_cost(const FusionGroup& k, int number, const std::vector<IndexId>& ix) {
  const FusionNode& s = node(number);
  if (s.kind != FusionNodeKind::Reduce || ix.size() != 1 || !aligned(s, ix[0])) return {};
  InlineCost out;
  out.across = split_reductions_of(k)[0].second;
  size_t found = 0;
  ReductionNest loops{ix[0], out.across, number};
  for (int64_t d : s.uop->reduction().axes) {
    const Dim& size = s.uop->src[0]->shape[d];
    if (size == 1) continue;
    if (found == out.across.size())
      loops.axes.push_back(space_.axis(size));
    else if (!(space_.size(out.across[found++]) == size))
      return {};
  }
  if (found < out.across.size()) return {};
  FusionGroup both;
  both.outer = k.outer;
  both.members = k.members;
  both.members.push_back({number, ix});
  both.outputs = k.outputs;
  both.nests = k.nests;
  both.nests.push_back(std::move(loops));
  if (!can_split_reductions(both, {}, both.blocks, both.epilogue) || !(both.blocks == k.blocks) ||
      !loops_stay_apart(both, {}, {}))
    return {};
  const int64_t result = part_bytes(both);
  if (result > prices_.partial_bytes) return {};
  const int64_t more = (result - part_bytes(k)) * task_count(k.outer, k.blocks);
  out.ns = s.own + 2 * static_cast<double>(more) / prices_.cached;
  out.how = "across the ranges that other sums go across";
  return out;
}

/// Results of the kernel's sums below which it is cut: with as many, all units are busy, and tasks read whole rows of
/// tensors in memory, not strips.
int64_t Partitioner::enough_results(const FusionGroup& k) const {
  int64_t together = prices_.lanes * prices_.threads_per_block;  // that one task computes
  bool streams = false;
  for (const Member& m : k.members) {
    const FusionNode& s = node(m.node);
    if (s.kind != FusionNodeKind::Reduce) continue;
    if (s.uop->reduction().tree.lanes > 1) return prices_.parallel;
    if (s.product) together = std::max(together, prices_.tile_rows * 2 * prices_.lanes);
    streams = streams || bytes_of(s.uop->src[0]) > prices_.cached_bytes;
  }
  return std::max(prices_.parallel * together, streams ? 2 * prices_.few_results : 0);
}

/// Fills `cut` with the kernel as its blocks of the first `count` axes of a sum; false if there are none.
bool Partitioner::cut_into_blocks(const FusionGroup& k, const ReductionNest& sum, size_t count, FusionGroup& cut) {
  cut.outer.assign(sum.axes.begin(), sum.axes.begin() + static_cast<std::ptrdiff_t>(count));
  for (int a : k.outer) add_once(cut.outer, a);
  cut.members = k.members;
  cut.outputs = k.outputs;
  cut.nests = k.nests;
  return can_split_reductions(cut, {}, cut.blocks, cut.epilogue) && loops_stay_apart(cut, {}, {});
}

/// The last step for a kernel: a sum that runs in few tasks is cut into its blocks.
void Partitioner::split_long_reductions(FusionGroup& k) {
  const int64_t most = enough_results(k);
  if (k.blocks.axis >= 0 || k.nests.empty() || task_count(k.outer) >= most || k.time < prices_.long_sum) return;
  FusionGroup best;
  double saved = 0;
  for (const ReductionNest& n : k.nests)
    for (size_t count = 1; count <= n.axes.size(); ++count) {
      FusionGroup cut;
      if (!cut_into_blocks(k, n, count, cut)) continue;
      const int64_t units = task_count(cut.outer, cut.blocks);
      // On a GPU, each result that is cut costs as if it were stored alone: threads along its sum do as well.
      const int64_t together = prices_.threads_per_block > 1 ? 1 : std::max<int64_t>(task_count(k.outer), 1),
                    parts = units / together;
      const double gain = -idle(k.time, task_count(k.outer), units, most) -
                          2 * static_cast<double>(part_bytes(cut) * parts) / prices_.cached;
      if (gain <= saved) continue;
      saved = gain;
      best = std::move(cut);
    }
  if (saved == 0) return;
  k.outer = std::move(best.outer);
  k.blocks = best.blocks;
  k.epilogue = std::move(best.epilogue);
}

/// Both kernels under those outer ranges of the host that the guest's sums run over or its results have.
MergePlan Partitioner::plan_split_merge(const FusionGroup& host, const FusionGroup& guest, const AxisPairs& pairs,
                                        bool swapped) {
  MergePlan u;
  u.swapped = swapped;
  if (host.contraction_time + guest.contraction_time > prices_.launch || guest.blocks.axis >= 0) return u;
  const AxisNames names(pairs);
  for (int b : guest.outer)
    if (partner(pairs, b, swapped) < 0) return u;  // a result axis that the host lacks
  std::vector<int> outer;
  bool crosses = false;
  for (int a : host.outer) {
    const int b = partner(pairs, a, !swapped);
    const bool summed =
        b >= 0 && std::ranges::any_of(guest.nests, [&](const ReductionNest& n) { return contains(n.axes, b); });
    crosses |= summed;
    if (b >= 0 && (summed || contains(guest.outer, b)))
      outer.push_back(names.of(a));
    else
      u.lost.push_back(a);
  }
  if (!crosses) return u;
  for (int b : guest.outer)
    if (!contains(outer, names.of(b))) u.lost.push_back(b);
  u.pairs = pairs;
  const FusionGroup &k1 = swapped ? guest : host, &k2 = swapped ? host : guest;
  if (!can_merge(k1, k2, u) || u.blocks.axis < 0) return {};
  u.price = u.idle + 2 * static_cast<double>(u.partial) / prices_.cached;
  u.why = "sums across the outer ranges of the other";
  return u;
}

}  // namespace sinter::schedule
