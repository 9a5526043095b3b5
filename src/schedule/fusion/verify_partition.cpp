// The pass's own checks: a wrong boundary gives wrong numbers, not an error.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "schedule/fusion/hazards.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

[[noreturn]] void fail(const Partition& p, size_t kernel, int stage, std::string_view what) {
  throw InternalError(fmt::format("partition: k{}: {}: {}\n{}", kernel,
                                  to_string(p.graph.stages[static_cast<size_t>(stage)]), what,
                                  p.kernels.size() <= 64 ? to_string(p) : std::string()));
}

/// Sums across outer ranges: what waits for them is late, and needed nowhere inside those ranges.
void check_late(const Partition& p, size_t k) {
  const Kernel& kernel = p.kernels[k];
  std::vector<int> across, sums;
  for (const Nest& n : kernel.nests)
    if (crossed(n.axes, kernel.outer) < 0)
      fail(p, k, n.stage, "a sum goes across an outer range that is not its first");
  for (const auto& [sum, ranges] : sums_across(kernel)) {
    if (ranges.back() != kernel.blocks.axis) fail(p, k, sum, "a sum goes across a range that has no blocks");
    if (p.graph.stages[static_cast<size_t>(sum)].contraction) fail(p, k, sum, "a product goes across outer ranges");
    across.insert(across.end(), ranges.begin(), ranges.end());
    sums.push_back(sum);
  }
  if (kernel.blocks.axis >= 0 && sums.empty()) fail(p, k, kernel.outputs[0].stage, "blocks without a sum across them");
  std::vector<int> waits = sums;
  std::vector<const Member*> members;  // a stage that is evaluated in several ways stands there as often
  for (const Member& m : kernel.members) members.push_back(&m);
  std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->stage < b->stage; });
  for (const Member* m : members) {
    const std::vector<Source>& sources = p.graph.stages[static_cast<size_t>(m->stage)].sources;
    const bool sum = contains(sums, m->stage);
    const bool after =
        std::any_of(sources.begin(), sources.end(), [&](const Source& s) { return contains(waits, s.stage); });
    if (sum && after) fail(p, k, m->stage, "goes across outer ranges and waits for a sum that does");
    const bool late = contains(kernel.late, m->stage);
    if (!sum && !after && !late) continue;
    waits.push_back(m->stage);
    if (!late) fail(p, k, m->stage, "waits for a sum across outer ranges and is not late");
    for (IndexId at : m->at)
      for (int a : p.space.axes_of(at))
        if (contains(across, a)) fail(p, k, m->stage, "needed inside the ranges that its sum goes across");
    for (int a : p.space.expand(m->reduced))
      if (!sum && contains(across, a)) fail(p, k, m->stage, "sums a late value over the ranges that it waits for");
  }
}

}  // namespace

void verify_partition(Partition& p) {
  std::vector<int> member_of(p.graph.stages.size(), -1);
  const std::map<int, int> stores = stores_by_slot(p.graph);
  for (size_t o = 0; o < p.graph.output_stages.size(); ++o)
    if (const int s = p.graph.output_stages[o]; p.kernel_of[static_cast<size_t>(s)] < 0)
      fail(p, 0, s, "an output that nobody stores");

  for (size_t k = 0; k < p.kernels.size(); ++k) {
    const Kernel& kernel = p.kernels[k];
    const int number = static_cast<int>(k);
    for (const Member& m : kernel.members) member_of[static_cast<size_t>(m.stage)] = number;
    // Closure: what is used is evaluated here or lies in memory.
    if (!kernel.wanted.empty()) fail(p, k, kernel.wanted.begin()->first, "needed, and decided nowhere");
    for (const Member& m : kernel.members)
      for (const Source& src : p.graph.stages[static_cast<size_t>(m.stage)].sources)
        if (src.stage >= 0 && member_of[static_cast<size_t>(src.stage)] != number && !kernel.reads.contains(src.stage))
          fail(p, k, src.stage, "used, but neither evaluated nor read here");
    // Order: what is read was stored by a kernel above; what is overwritten has no reader below.
    for (const auto& [stage, at] : kernel.reads) {
      const Stage& s = p.graph.stages[static_cast<size_t>(stage)];
      if (s.kind != StageKind::Buffer) {
        const int from = p.kernel_of[static_cast<size_t>(stage)];
        if (from < 0) fail(p, k, stage, "read, but stored nowhere");
        if (p.kernels[static_cast<size_t>(from)].level <= kernel.level) fail(p, k, stage, "read before it is stored");
        continue;
      }
      auto it = stores.find(static_cast<int>(s.node->integer()));
      if (it == stores.end()) continue;
      const int writer = p.kernel_of[static_cast<size_t>(it->second)];
      if (writer == number ? !reads_only_what_it_writes(p, number, stage, it->second)
                           : kernel.level <= p.kernels[static_cast<size_t>(writer)].level)
        fail(p, k, stage, "overwritten before it is read");
    }
    // Loops: every element is stored once, and a sum runs over a parallel axis only in blocks.
    auto place = [&](int axis) { return std::find(kernel.inner.begin(), kernel.inner.end(), axis); };
    check_late(p, k);
    for (const Nest& n : kernel.nests)
      for (size_t i = 0; i < n.axes.size(); ++i) {
        const int a = n.axes[i];
        if (contains(kernel.outer, a)) continue;
        if (i > 0 && !contains(kernel.outer, n.axes[i - 1]) && place(n.axes[i - 1]) >= place(a))
          fail(p, k, kernel.outputs[0].stage, "the loops of a reduction are out of order");
        if (place(a) == kernel.inner.end()) fail(p, k, kernel.outputs[0].stage, "a reduced axis is no loop");
        for (int around : p.space.axes_of(n.at))
          if (!contains(kernel.outer, around) && place(around) >= place(a))
            fail(p, k, kernel.outputs[0].stage, "a reduction stands inside its own loop");
      }
    for (const Stored& o : kernel.outputs) {
      const Shape& shape = p.graph.stages[static_cast<size_t>(o.stage)].node->shape;
      const StageKind kind = p.graph.stages[static_cast<size_t>(o.stage)].kind;
      std::vector<int> axes;
      for (size_t d = 0; d < p.space[o.at].size(); ++d)
        if (kind != StageKind::Box && !p.space.covers(p.space[o.at][d], shape[d].bound(), axes))
          fail(p, k, o.stage, "not each element is stored");
      std::sort(axes.begin(), axes.end());
      if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail(p, k, o.stage, "only a diagonal is stored");
      for (int a : axes)
        if (!contains(kernel.outer, a) && place(a) == kernel.inner.end()) fail(p, k, o.stage, "stored over no loop");
      if (kind != StageKind::Box)
        for (int a : kernel.outer)
          if (p.space.least(a) == 0 && a != kernel.blocks.axis && !contains(axes, a))
            fail(p, k, o.stage, "stored at the first point of no point");
      if (p.kernel_of[static_cast<size_t>(o.stage)] != number) fail(p, k, o.stage, "stored twice");
    }
  }
}

}  // namespace sinter::schedule
