// Where a kernel that nears a cap is cut: where it needs the fewest bytes from others, so that these are stored, not
// whatever happens to be open when the cap is met.
#include <unordered_set>

#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

Fill Partitioner::fill_of(const Kernel& k) const {
  return {k.evaluations, static_cast<int>(k.nests.size()),
          static_cast<int>(k.reads.size() + k.wanted.size() + k.outputs.size())};
}

/// Whether a kernel that needs s needs more than without it: not if s is made of numbers and of what it needs or reads
/// anyway.
bool Partitioner::is_pending(const Kernel& k, int s) const {
  const std::vector<Source>& sources = stage(s).sources;
  return std::any_of(sources.begin(), sources.end(), [&](const Source& src) {
    return src.stage >= 0 && !k.wanted.contains(src.stage) && !k.reads.contains(src.stage);
  });
}

/// Ends the kernel if fewer bytes were never needed from others, and there is no room for what came between the last
/// two such places. Where a sixth of a cap has passed without one, the fewest bytes of that stretch are few. What lies
/// behind is looked at once per kernel, as far as there is room for it.
void Partitioner::end_at_narrow_place(int kernel) {
  const Kernel& k = at(kernel);
  Narrow& narrow = narrow_[static_cast<size_t>(kernel)];
  if (narrow.ended || narrow.rest_fits) return;
  const Fill now = fill_of(k), caps{prices_.max_stages, prices_.max_loops, prices_.max_buffers};
  Fill room, gap;
  bool half = false, wide = false, next = true;
  for (size_t i = 0; i < now.size(); ++i) {
    room[i] = caps[i] - now[i];
    gap[i] = now[i] - narrow.last[i];
    half |= 2 * now[i] >= caps[i];
    wide |= 6 * gap[i] > caps[i];
  }
  if (!half) return;
  int64_t bytes = 0;
  Fill free{};  // of what the kernel evaluates after its end
  for (const auto& [s, indices] : k.wanted) {
    if (is_pending(k, s))
      bytes += stage(s).bytes;
    else
      ++free[0], free[1] += stage(s).loops();
  }
  narrow.since = narrow.since < 0 ? bytes : std::min(narrow.since, bytes);
  if (wide) narrow.least = std::max(narrow.least, narrow.since);
  if (narrow.least >= 0 && bytes > narrow.least) return;
  const bool first = wide || bytes != narrow.least;  // of its kind
  for (size_t i = 0; i < now.size(); ++i) {
    narrow.longest[i] = first ? 0 : std::max(narrow.longest[i], gap[i]);
    next &= narrow.longest[i] + free[i] <= room[i];
  }
  narrow.last = now;
  narrow.least = bytes;
  narrow.since = -1;
  if (next) return;
  narrow.rest_fits = rest_fits(k, room);
  narrow.ended = !narrow.rest_fits;
}

/// Whether there is room for all that the kernel needs and all before it, as far as products and what is always stored.
bool Partitioner::rest_fits(const Kernel& k, Fill room) const {
  std::vector<int> todo;
  for (const auto& [s, indices] : k.wanted) todo.push_back(s);
  std::unordered_set<int> seen(todo.begin(), todo.end());
  while (!todo.empty()) {
    const int number = todo.back();
    todo.pop_back();
    const Stage& st = stage(number);
    const bool boundary = st.contraction || st.kind == StageKind::Buffer || always_stored(st.kind);
    if (boundary && !k.reads.contains(number)) --room[2];
    if (!boundary) --room[0];
    if (!boundary && st.loops()) --room[1];
    if (*std::min_element(room.begin(), room.end()) < 0) return false;
    if (boundary) continue;
    for (const Source& src : st.sources)
      if (src.stage >= 0 && seen.insert(src.stage).second) todo.push_back(src.stage);
  }
  return true;
}

}  // namespace sinter::schedule
