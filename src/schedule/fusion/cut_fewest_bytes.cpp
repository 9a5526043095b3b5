// Cuts a kernel that nears a cap where it needs the fewest bytes from others. Otherwise it would store whatever is live
// when it meets the cap.
#include <unordered_set>

#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

ResourceCounts Partitioner::resources_of(const FusionGroup& k) const {
  return {k.evaluations, static_cast<int>(k.nests.size()),
          static_cast<int>(k.reads.size() + k.wanted.size() + k.outputs.size())};
}

/// Whether s adds to what the kernel needs. It does not if its sources are constants or already needed or read.
bool Partitioner::is_pending(const FusionGroup& k, int s) const {
  const std::vector<FusionEdge>& sources = node(s).sources;
  return std::ranges::any_of(sources, [&](const FusionEdge& src) {
    return src.node >= 0 && !k.wanted.contains(src.node) && !k.reads.contains(src.node);
  });
}

/// Cuts the kernel if it needs no more bytes from others than at any earlier cut, and the distance to the next cut,
/// estimated by the longest one so far, does not fit. If a sixth of a cap passes without a cut, the fewest bytes of
/// that stretch are the new threshold. Once per kernel, checks the remaining nodes first: if all fit, it is never cut.
void Partitioner::end_at_cheapest_cut(int kernel) {
  const FusionGroup& k = at(kernel);
  CutTracker& tracker = cut_trackers_[kernel];
  if (tracker.is_full || tracker.rest_fits) return;
  const ResourceCounts now = resources_of(k), caps{prices_.max_nodes, prices_.max_loops, prices_.max_buffers};
  ResourceCounts room, gap;
  bool half = false, wide = false, next = true;
  for (size_t i = 0; i < now.size(); ++i) {
    room[i] = caps[i] - now[i];
    gap[i] = now[i] - tracker.last[i];
    half |= 2 * now[i] >= caps[i];
    wide |= 6 * gap[i] > caps[i];
  }
  if (!half) return;
  int64_t bytes = 0;
  ResourceCounts free{};  // what the kernel still evaluates after the cut
  for (const auto& [s, indices] : k.wanted) {
    if (is_pending(k, s))
      bytes += node(s).bytes;
    else
      ++free[0], free[1] += node(s).loops();
  }
  tracker.since = tracker.since < 0 ? bytes : std::min(tracker.since, bytes);
  if (wide) tracker.least = std::max(tracker.least, tracker.since);
  if (tracker.least >= 0 && bytes > tracker.least) return;
  const bool first = wide || bytes != tracker.least;  // the first cut of this size
  for (size_t i = 0; i < now.size(); ++i) {
    tracker.longest[i] = first ? 0 : std::max(tracker.longest[i], gap[i]);
    next &= tracker.longest[i] + free[i] <= room[i];
  }
  tracker.last = now;
  tracker.least = bytes;
  tracker.since = -1;
  if (next) return;
  tracker.rest_fits = rest_fits(k, room);
  tracker.is_full = !tracker.rest_fits;
}

/// Whether everything upstream of the kernel fits, up to contractions and nodes that are always stored.
bool Partitioner::rest_fits(const FusionGroup& k, ResourceCounts room) const {
  std::vector<int> todo;
  for (const auto& [s, indices] : k.wanted) todo.push_back(s);
  std::unordered_set<int> seen(todo.begin(), todo.end());
  while (!todo.empty()) {
    const int number = todo.back();
    todo.pop_back();
    const FusionNode& st = node(number);
    const bool boundary = st.contraction || st.kind == FusionNodeKind::Buffer || always_stored(st.kind);
    if (boundary && !k.reads.contains(number)) --room[2];
    if (!boundary) --room[0];
    if (!boundary && st.loops()) --room[1];
    if (*std::ranges::min_element(room) < 0) return false;
    if (boundary) continue;
    for (const FusionEdge& src : st.sources)
      if (src.node >= 0 && seen.insert(src.node).second) todo.push_back(src.node);
  }
  return true;
}

}  // namespace sinter::schedule
