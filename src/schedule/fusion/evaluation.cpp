// What becomes of a kernel that evaluates a stage: its axes, its loops, and what it needs next.
#include "ir/axis_lists.h"
#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

std::vector<IndexId>& Partitioner::uses(int k, int s) {
  Kernel& kernel = at(k);
  return stage(s).kind == StageKind::Buffer ? kernel.reads[s] : kernel.wanted[s];
}

void Partitioner::normalise(std::vector<IndexId>& indices) {
  size_t kept = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const IndexId now = space_.normal(indices[i]);
    const auto end = indices.begin() + static_cast<std::ptrdiff_t>(kept);
    if (std::find(indices.begin(), end, now) == end) indices[kept++] = now;
  }
  indices.resize(kept);
}

/// The kernel's own axes as they are named after unifications and splits.
void Partitioner::refresh(Kernel& k) {
  if (k.epoch == space_.epoch()) return;
  k.epoch = space_.epoch();
  steps_ += static_cast<int64_t>(k.nests.size());
  space_.renew(k.outer);
  space_.renew(k.contraction_outer);
  if (k.blocks.axis >= 0) k.blocks.axis = space_.find(k.blocks.axis);
  for (Nest& n : k.nests) {
    n.at = space_.normal(n.at);
    space_.renew(n.axes);
  }
}

/// Outer ranges become loops inside.
void Partitioner::give_up(Kernel& k, const std::vector<int>& axes) {
  const std::vector<int> lost = space_.expand(axes);
  for (std::vector<int>* outer : {&k.outer, &k.contraction_outer})
    std::erase_if(*outer, [&](int a) { return contains(lost, a); });
}

void Partitioner::evaluate(int kernel, int s, std::vector<IndexId> ix, const Absorb& form) {
  for (auto [a, b] : form.siblings) space_.unify(a, b);
  Kernel& k = at(kernel);
  refresh(k);
  normalise(ix);
  give_up(k, form.lost);
  if (form.blocks.axis >= 0) {
    k.outer = form.outer;
    k.blocks = form.blocks;
    space_.keep_whole(k.blocks.axis);
    k.late = form.late;
    find_late_wants(kernel);
  }
  std::vector<int>& late_wants = late_wants_[static_cast<size_t>(kernel)];
  const bool late = std::binary_search(late_wants.begin(), late_wants.end(), s);
  if (late) {
    late_wants.erase(std::lower_bound(late_wants.begin(), late_wants.end(), s));
    k.late.insert(std::lower_bound(k.late.begin(), k.late.end(), s), s);
  }
  const Stage& st = stage(s);
  const Member* with = other_accumulator(k, s, ix, late);
  const bool waits = late && !with && form.across.empty();  // a sum across outer ranges is late, what it sums is not
  if (k.blocks.axis >= 0)
    for (const Source& src : st.sources) {
      if (src.stage < 0) continue;
      auto it = std::lower_bound(late_wants.begin(), late_wants.end(), src.stage);
      const bool known = it != late_wants.end() && *it == src.stage;
      if (waits && !known && !k.wanted.contains(src.stage))
        late_wants.insert(it, src.stage);
      else if (!waits && known)
        late_wants.erase(it);
    }
  k.time += form.ns;
  k.evaluations += static_cast<int>(ix.size());
  if (st.contraction) {
    ++k.contractions;
    k.contraction_time += form.ns;
    for (int a : k.outer) add_once(k.contraction_outer, a);
  }
  if (form.kept) k.within.erase(s);
  std::vector<int> within, reduced = with ? with->reduced : form.across;
  if (st.loops() || st.kind == StageKind::Scan)
    within = {s};
  else if (auto it = k.within.find(s); it != k.within.end())
    within = it->second;
  for (IndexId i : ix) push(kernel, s, i, within, reduced);
  at(kernel).members.push_back({s, std::move(ix), std::move(reduced)});
}

/// Which of the stages that the kernel waits for are needed by its late members only.
void Partitioner::find_late_wants(int kernel) {
  const Kernel& k = at(kernel);
  std::vector<int>& late = late_wants_[static_cast<size_t>(kernel)];
  late.clear();
  for (const auto& [s, indices] : k.wanted) late.push_back(s);
  const std::vector<SumAcross> sums = sums_across(k);
  auto waits = [&](int s) {  // a sum across outer ranges is late, what it sums is not
    return std::binary_search(k.late.begin(), k.late.end(), s) &&
           std::none_of(sums.begin(), sums.end(), [&](const SumAcross& a) { return a.first == s; });
  };
  for (const Member& m : k.members)
    if (!waits(m.stage))
      for (const Source& src : stage(m.stage).sources) std::erase(late, src.stage);
  std::sort(late.begin(), late.end());
}

/// `within`: the reductions in whose loops the source is used.
void Partitioner::want(int kernel, const Source& source, IndexId ix, const std::vector<int>& within) {
  if (source.stage < 0) return;
  ++steps_;
  ix = space_.down(source.head, ix);
  std::vector<int>& users = users_[static_cast<size_t>(source.stage)];
  if (users.empty() || users.back() != kernel) users.push_back(kernel);
  add_once(uses(kernel, source.stage), ix);
  if (within.empty() || stage(source.stage).kind == StageKind::Buffer) return;
  std::vector<int>& sums = at(kernel).within[source.stage];
  for (int s : within) add_once(sums, s);
}

/// The member that is another accumulator of the same reduction, in loops that s may run in too; null if there is none.
const Member* Partitioner::other_accumulator(const Kernel& k, int s, const std::vector<IndexId>& ix, bool late) const {
  if (stage(s).kind != StageKind::Reduce || ir::state_count(stage(s).node->reduction().combine) == 1) return nullptr;
  for (const Nest& n : k.nests) {
    if (n.at != ix[0] || n.stage == s || !one_reduction(stage(n.stage), stage(s))) continue;
    const bool across = crossed(n.axes, k.outer) != 0;
    if (across != late || (late && ix.size() != 1)) continue;
    return &*std::find_if(k.members.begin(), k.members.end(), [&](const Member& m) { return m.stage == n.stage; });
  }
  return nullptr;
}

/// Where a reduction at this index needs what it sums, in loops over `reduced`; those that these lack are made here.
IndexId Partitioner::summed(const Stage& s, IndexId ix, std::vector<int>& reduced) {
  size_t next = 0;
  return space_.intern(ir::with_axes(space_[ix], s.node->reduction().axes, [&](int64_t d) {
    const Dim& size = s.node->src[0]->shape[d];
    if (size == 1) return DimIndex{};
    if (next == reduced.size()) reduced.push_back(space_.axis(size));
    return space_.whole(reduced[next++]);
  }));
}

/// Tells the sources of s where the kernel needs them. `reduced` are the axes of its loops, the same at each index;
/// those that it lacks are made here.
void Partitioner::push(int kernel, int s, IndexId ix, const std::vector<int>& within, std::vector<int>& reduced) {
  const Stage& st = stage(s);
  switch (st.kind) {
    case StageKind::Reduce: {
      const IndexId id = summed(st, ix, reduced);
      at(kernel).nests.push_back({ix, reduced, s});
      for (const Source& src : st.sources) want(kernel, src, id, within);
      return;
    }
    case StageKind::Gather: {
      Index moved = space_[ix];
      moved[static_cast<size_t>(st.node->integer())] = space_.opaque(ix, st.node->src[1]->id);
      const IndexId id = space_.intern(std::move(moved));
      want(kernel, st.sources[1], ix, within);
      want(kernel, st.sources[0], id, within);
      return;
    }
    case StageKind::Scan: {
      // Its loop is that of its store, and stands inside all others that it depends on.
      const auto axis = static_cast<size_t>(st.node->reduction().axes[0]);
      Index around = space_[ix];
      for (const Digit& d : around[axis].digits) reduced.push_back(d.axis);
      around[axis] = {};
      at(kernel).nests.push_back({space_.intern(std::move(around)), reduced, s});
      for (const Source& src : st.sources) want(kernel, src, ix, within);
      return;
    }
    case StageKind::ScatterAdd: {
      const auto axis = static_cast<size_t>(st.node->integer());
      const Dim& turns = st.node->src[1]->shape[axis];
      Index update = space_[ix], around = update;
      around[axis] = {};
      if (!(turns == 1)) reduced.push_back(space_.axis(turns));
      update[axis] = reduced.empty() ? DimIndex{} : space_.whole(reduced[0]);
      at(kernel).nests.push_back({space_.intern(std::move(around)), reduced, s});
      const IndexId id = space_.intern(std::move(update));
      want(kernel, st.sources[0], ix, within);
      want(kernel, st.sources[1], id, within);
      want(kernel, st.sources[2], id, within);
      return;
    }
    default:
      for (const Source& src : st.sources) want(kernel, src, ix, within);
  }
}

}  // namespace sinter::schedule
