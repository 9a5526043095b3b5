// Where a kernel that nears a cap is cut: at a stage through which all that it still needs passes, so that one value is
// stored, not whatever happens to be open when the cap is met.
#include <unordered_set>

#include "schedule/partitioner.h"

namespace sinter::schedule {

Fill Partitioner::fill_of(const Kernel& k) const {
  return {k.evaluations, static_cast<int>(k.nests.size()),
          static_cast<int>(k.reads.size() + k.wanted.size() + k.outputs.size())};
}

/// Is s, which only this kernel needs, such a place, and is there no room for what came between the last two of them?
/// What lies before s is looked at once per kernel, as far as there is room for it.
bool Partitioner::ends_here(int s, int kernel) {
  const Kernel& k = at(kernel);
  if (k.wanted.size() != 1) return false;
  Narrow& narrow = narrow_[static_cast<size_t>(kernel)];
  const Fill now = fill_of(k), caps{prices_.max_stages, prices_.max_loops, prices_.max_buffers};
  Fill room;
  bool next = true;
  for (size_t i = 0; i < now.size(); ++i) {
    narrow.longest[i] = std::max(narrow.longest[i], now[i] - narrow.last[i]);
    room[i] = caps[i] - now[i];
    next &= narrow.longest[i] <= room[i];
  }
  narrow.last = now;
  if (next || narrow.rest_fits) return false;
  narrow.rest_fits = rest_fits(s, k, room);
  return !narrow.rest_fits;
}

/// Whether there is room for s and all before it, as far as products and what is always stored.
bool Partitioner::rest_fits(int s, const Kernel& k, Fill room) const {
  std::vector<int> todo{s};
  std::unordered_set<int> seen{s};
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
