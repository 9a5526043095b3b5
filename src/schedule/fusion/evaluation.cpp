// Adds the evaluation of a node to a kernel: its axes, its loops, and its needs.
#include "ir/axis_lists.h"
#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

std::vector<IndexId>& Partitioner::uses(int k, int s) {
  FusionGroup& kernel = at(k);
  return node(s).kind == FusionNodeKind::Buffer ? kernel.reads[s] : kernel.wanted[s];
}

void Partitioner::normalize(std::vector<IndexId>& indices) {
  size_t kept = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const IndexId now = space_.normal(indices[i]);
    const auto end = indices.begin() + static_cast<std::ptrdiff_t>(kept);
    if (std::find(indices.begin(), end, now) == end) indices[kept++] = now;
  }
  indices.resize(kept);
}

/// Renames the kernel's axes after unifications and splits.
void Partitioner::refresh(FusionGroup& k) {
  if (k.epoch == space_.epoch()) return;
  k.epoch = space_.epoch();
  steps_ += static_cast<int64_t>(k.nests.size());
  space_.renew(k.outer);
  space_.renew(k.contraction_outer);
  if (k.blocks.axis >= 0) k.blocks.axis = space_.find(k.blocks.axis);
  for (ReductionNest& n : k.nests) {
    n.at = space_.normal(n.at);
    space_.renew(n.axes);
  }
}

/// Outer ranges become inner loops.
void Partitioner::serialize_axes(FusionGroup& k, const std::vector<int>& axes) {
  const std::vector<int> lost = space_.expand(axes);
  for (std::vector<int>* outer : {&k.outer, &k.contraction_outer})
    std::erase_if(*outer, [&](int a) { return contains(lost, a); });
}

void Partitioner::add_evaluation(int kernel, int s, std::vector<IndexId> ix, const InlineCost& form) {
  for (auto [a, b] : form.siblings) space_.unify(a, b);
  FusionGroup& k = at(kernel);
  refresh(k);
  normalize(ix);
  serialize_axes(k, form.lost);
  if (form.blocks.axis >= 0) {
    k.outer = form.outer;
    k.blocks = form.blocks;
    space_.forbid_split(k.blocks.axis);
    k.epilogue = form.epilogue;
    find_epilogue_wants(kernel);
  }
  std::vector<int>& epilogue_wants = epilogue_wants_[kernel];
  const bool in_epilogue = std::ranges::binary_search(epilogue_wants, s);
  if (in_epilogue) {
    epilogue_wants.erase(std::ranges::lower_bound(epilogue_wants, s));
    k.epilogue.insert(std::ranges::lower_bound(k.epilogue, s), s);
  }
  const FusionNode& st = node(s);
  const Member* with = other_accumulator(k, s, ix, in_epilogue);
  const bool waits =
      in_epilogue && !with && form.across.empty();  // a sum across outer ranges is in the epilogue, its sources are not
  if (k.blocks.axis >= 0)
    for (const FusionEdge& src : st.sources) {
      if (src.node < 0) continue;
      auto it = std::ranges::lower_bound(epilogue_wants, src.node);
      const bool known = it != epilogue_wants.end() && *it == src.node;
      if (waits && !known && !k.wanted.contains(src.node))
        epilogue_wants.insert(it, src.node);
      else if (!waits && known)
        epilogue_wants.erase(it);
    }
  k.time += form.ns;
  k.evaluations += static_cast<int>(ix.size());
  if (st.contraction) {
    ++k.contractions;
    k.contraction_time += form.ns;
    for (int a : k.outer) add_once(k.contraction_outer, a);
  }
  if (form.materialized) k.within.erase(s);
  std::vector<int> within, reduced = with ? with->reduced : form.across;
  if (st.loops() || st.kind == FusionNodeKind::Scan)
    within = {s};
  else if (auto it = k.within.find(s); it != k.within.end())
    within = it->second;
  for (IndexId i : ix) propagate_uses(kernel, s, i, within, reduced);
  at(kernel).members.push_back({s, std::move(ix), std::move(reduced)});
}

/// The needed nodes that only epilogue members use.
void Partitioner::find_epilogue_wants(int kernel) {
  const FusionGroup& k = at(kernel);
  std::vector<int>& pending = epilogue_wants_[kernel];
  pending.clear();
  for (const auto& [s, indices] : k.wanted) pending.push_back(s);
  const std::vector<SplitReduction> sums = split_reductions_of(k);
  auto waits = [&](int s) {  // a sum across outer ranges is in the epilogue, its sources are not
    return std::ranges::binary_search(k.epilogue, s) &&
           std::ranges::none_of(sums, [&](const SplitReduction& a) { return a.first == s; });
  };
  for (const Member& m : k.members)
    if (!waits(m.node))
      for (const FusionEdge& src : node(m.node).sources) std::erase(pending, src.node);
  std::ranges::sort(pending);
}

/// `within`: the reductions in whose loops the source is used.
void Partitioner::add_use(int kernel, const FusionEdge& source, IndexId ix, const std::vector<int>& within) {
  if (source.node < 0) return;
  ++steps_;
  ix = space_.down(source.head, ix);
  std::vector<int>& users = users_[source.node];
  if (users.empty() || users.back() != kernel) users.push_back(kernel);
  add_once(uses(kernel, source.node), ix);
  if (within.empty() || node(source.node).kind == FusionNodeKind::Buffer) return;
  std::vector<int>& sums = at(kernel).within[source.node];
  for (int s : within) add_once(sums, s);
}

/// The member that is another accumulator of the same reduction, in loops that s can share; null if there is none.
const Member* Partitioner::other_accumulator(const FusionGroup& k, int s, const std::vector<IndexId>& ix,
                                             bool in_epilogue) const {
  if (node(s).kind != FusionNodeKind::Reduce || ir::accumulator_count(node(s).uop->reduction().combine) == 1)
    return nullptr;
  for (const ReductionNest& n : k.nests) {
    if (n.at != ix[0] || n.node == s || !is_same_reduction(node(n.node), node(s))) continue;
    const bool across = count_split_axes(n.axes, k.outer) != 0;
    if (across != in_epilogue || (in_epilogue && ix.size() != 1)) continue;
    return &*std::ranges::find_if(k.members, [&](const Member& m) { return m.node == n.node; });
  }
  return nullptr;
}

/// The index at which a reduction reads its source, in loops over `reduced`. Creates missing loop axes.
IndexId Partitioner::input_index(const FusionNode& s, IndexId ix, std::vector<int>& reduced) {
  size_t next = 0;
  const IndexId made = space_.intern(ir::with_axes(space_[ix], s.uop->reduction().axes, [&](int64_t d) {
    const Dim& size = s.uop->src[0]->shape[d];
    if (size == 1) return DimIndex{};
    if (next == reduced.size()) reduced.push_back(space_.axis(size));
    return space_.whole(reduced[next++]);
  }));
  if (s.mma) space_.forbid_split(reduced.back());  // steps of a tensor core end where the last axis does
  return made;
}

/// propagate_uses() of a SCATTER: the base is used where it lies, index and updates in a loop over the updates.
void Partitioner::propagate_updates(int kernel, int s, IndexId ix, const std::vector<int>& within,
                                    std::vector<int>& reduced) {
  const FusionNode& st = node(s);
  const auto axis = static_cast<size_t>(st.scatter->scatter().axis);
  const Dim& iterations = st.scatter->src[1]->shape[axis];
  FusionIndex update = space_[ix], around = update;
  around[axis] = {};
  if (!(iterations == 1)) reduced.push_back(space_.axis(iterations));
  update[axis] = reduced.empty() ? DimIndex{} : space_.whole(reduced[0]);
  at(kernel).nests.push_back({space_.intern(std::move(around)), reduced, s});
  const IndexId id = space_.intern(std::move(update));
  add_use(kernel, st.sources[0], ix, within);
  add_use(kernel, st.sources[1], id, within);
  add_use(kernel, st.sources[2], id, within);
}

/// Records the uses of the sources of s at index `ix`. `reduced` are the axes of its loops, the same for each index;
/// missing ones are created.
void Partitioner::propagate_uses(int kernel, int s, IndexId ix, const std::vector<int>& within,
                                 std::vector<int>& reduced) {
  const FusionNode& st = node(s);
  if (st.scatter) return propagate_updates(kernel, s, ix, within, reduced);
  switch (st.kind) {
    case FusionNodeKind::Reduce: {
      const IndexId id = input_index(st, ix, reduced);
      at(kernel).nests.push_back({ix, reduced, s});
      for (const FusionEdge& src : st.sources) add_use(kernel, src, id, within);
      return;
    }
    case FusionNodeKind::Gather: {
      FusionIndex moved = space_[ix];
      moved[st.uop->integer()] = space_.opaque(ix, st.uop->src[1]->id);
      const IndexId id = space_.intern(std::move(moved));
      add_use(kernel, st.sources[1], ix, within);
      add_use(kernel, st.sources[0], id, within);
      return;
    }
    case FusionNodeKind::Opaque: {  // any element of the row or the matrix
      for (size_t i = 0; i < st.sources.size(); ++i) {
        FusionIndex row = space_[ix];
        row.back() = space_.opaque(ix, st.uop->id);
        row.resize(st.uop->src[i]->rank(), row.back());
        add_use(kernel, st.sources[i], space_.intern(std::move(row)), within);
      }
      return;
    }
    case FusionNodeKind::Scan: {
      // Its loop is the loop of its store, inside all others that it depends on.
      const auto axis = static_cast<size_t>(st.uop->reduction().axes[0]);
      FusionIndex around = space_[ix];
      for (const Digit& d : around[axis].digits) reduced.push_back(d.axis);
      around[axis] = {};
      at(kernel).nests.push_back({space_.intern(std::move(around)), reduced, s});
      for (const FusionEdge& src : st.sources) add_use(kernel, src, ix, within);
      return;
    }
    default:
      for (const FusionEdge& src : st.sources) add_use(kernel, src, ix, within);
  }
}

}  // namespace sinter::schedule
