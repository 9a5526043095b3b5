// Levels of kernels, assigned users first. A kernel's level is above those of all kernels that use its outputs, so
// kernels of one level are independent.
#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {

bool Partitioner::level_fits(int k, const std::vector<int>& users, const std::vector<int>& hazards) const {
  if (!at(k).has_feeders) return true;
  for (const std::vector<int>* list : {&users, &hazards})
    for (int other : *list)
      if (other != k && at(other).level >= at(k).level) return false;
  return true;
}

/// Whether all of the kernels can evaluate a node that must run before `hazards`. If two of them are hazards
/// themselves, they would wait for each other.
bool Partitioner::levels_fit(const std::vector<int>& kernels, const std::vector<int>& hazards) const {
  int highest = -1, own = -1;
  for (int h : hazards) {
    if (!std::ranges::binary_search(kernels, h)) {
      highest = std::max(highest, at(h).level);
    } else if (own >= 0) {
      return false;
    } else {
      own = h;
    }
  }
  if (own >= 0) {
    if (at(own).level <= highest && at(own).has_feeders) return false;
    highest = std::max(at(own).level, highest + 1);
  }
  return std::ranges::all_of(kernels, [&](int k) { return k == own || at(k).level > highest || !at(k).has_feeders; });
}

void Partitioner::raise_level(int k, const std::vector<int>& users, const std::vector<int>& hazards) {
  for (const std::vector<int>* list : {&users, &hazards})
    for (int other : *list)
      if (other != k) at(k).level = std::max(at(k).level, at(other).level + 1);
  for (int store : hazards)
    if (store != k) at(store).has_feeders = true;
}

/// If the kernel itself overwrites what the node reads, the read must be of the element written, in the same loops. A
/// store that lacks an outer range runs in its first task, but all tasks would read it.
bool Partitioner::exact_where_stored(int k, int s, const std::vector<IndexId>& ix) {
  for (int store : node(s).before) {
    const int where = stored_by_[store];
    if (where < 0 || find(where) != k) continue;
    // An epilogue store runs after all reads but those of the epilogue.
    const std::vector<int>&epilogue = at(k).epilogue, &wants = epilogue_wants_[k];
    if (std::ranges::binary_search(epilogue, store) && !std::ranges::binary_search(wants, s)) continue;
    const std::vector<KernelStore>& outputs = at(k).outputs;
    auto out = std::ranges::find_if(outputs, [&](const KernelStore& o) { return o.node == store; });
    if (node(s).kind != FusionNodeKind::Elementwise || out == outputs.end()) return false;
    const ir::UOp target = node(store).target;
    const IndexId element = space_.normal(target ? space_.down(target, out->at) : out->at);
    for (const FusionEdge& src : node(s).sources) {
      if (src.node < 0 || node(src.node).kind != FusionNodeKind::Buffer) continue;
      bool overwritten = false;
      for (int o : node(store).outputs) overwritten |= graph_.homes[o] == node(src.node).uop->integer();
      for (IndexId i : ix)
        if (overwritten && (space_.normal(space_.down(src.head, i)) != element ||
                            space_.axes_of(space_.normal(i)) != space_.axes_of(element)))
          return false;
    }
  }
  return true;
}

}  // namespace sinter::schedule
