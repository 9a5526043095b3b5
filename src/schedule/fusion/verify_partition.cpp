// Verifies the partition: a wrong boundary would give wrong values, not an error.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "schedule/fusion/hazards.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

[[noreturn]] void fail(const Partition& p, size_t kernel, int node, std::string_view what) {
  throw InternalError(fmt::format("partition: k{}: {}: {}\n{}", kernel, to_string(p.graph.nodes[node]), what,
                                  p.kernels.size() <= 64 ? to_string(p) : std::string()));
}

/// Checks sums across outer ranges: their users are in the epilogue, and are not needed inside those ranges.
void check_late(const Partition& p, size_t k) {
  const FusionGroup& kernel = p.kernels[k];
  std::vector<int> across, sums;
  for (const ReductionNest& n : kernel.nests)
    if (count_split_axes(n.axes, kernel.outer) < 0)
      fail(p, k, n.node, "a sum goes across an outer range that is not its first");
  for (const auto& [sum, ranges] : split_reductions_of(kernel)) {
    if (ranges.back() != kernel.blocks.axis) fail(p, k, sum, "a sum goes across a range that has no blocks");
    if (p.graph.nodes[sum].contraction) fail(p, k, sum, "a product goes across outer ranges");
    across.insert(across.end(), ranges.begin(), ranges.end());
    sums.push_back(sum);
  }
  if (kernel.blocks.axis >= 0 && sums.empty()) fail(p, k, kernel.outputs[0].node, "blocks without a sum across them");
  std::vector<int> waits = sums;
  std::vector<const Member*> members;  // with duplicates: a node may be evaluated in several ways
  for (const Member& m : kernel.members) members.push_back(&m);
  std::ranges::sort(members, [](const Member* a, const Member* b) { return a->node < b->node; });
  for (const Member* m : members) {
    const std::vector<FusionEdge>& sources = p.graph.nodes[m->node].sources;
    const bool sum = contains(sums, m->node);
    const bool after = std::ranges::any_of(sources, [&](const FusionEdge& s) { return contains(waits, s.node); });
    if (sum && after) fail(p, k, m->node, "sums across outer ranges and depends on a sum that does");
    const bool in_epilogue = contains(kernel.epilogue, m->node);
    if (!sum && !after && !in_epilogue) continue;
    waits.push_back(m->node);
    if (!in_epilogue) fail(p, k, m->node, "depends on a sum across outer ranges and is not in the epilogue");
    for (IndexId at : m->at)
      for (int a : p.space.axes_of(at))
        if (contains(across, a)) fail(p, k, m->node, "needed inside the ranges that its sum goes across");
    for (int a : p.space.expand(m->reduced))
      if (!sum && contains(across, a)) fail(p, k, m->node, "sums a value of the epilogue over the ranges of its sum");
  }
}

}  // namespace

void verify_partition(Partition& p) {
  std::vector<int> member_of(p.graph.nodes.size(), -1);
  const std::map<int, int> stores = stores_by_slot(p.graph);
  for (size_t o = 0; o < p.graph.output_nodes.size(); ++o)
    if (const int s = p.graph.output_nodes[o]; p.kernel_of[s] < 0) fail(p, 0, s, "an output that nobody stores");

  for (size_t k = 0; k < p.kernels.size(); ++k) {
    const FusionGroup& kernel = p.kernels[k];
    const int number = static_cast<int>(k);
    for (const Member& m : kernel.members) member_of[m.node] = number;
    // Closure: a used node is evaluated here or read from memory.
    if (!kernel.wanted.empty()) fail(p, k, kernel.wanted.begin()->first, "needed, but not decided");
    for (const Member& m : kernel.members)
      for (const FusionEdge& src : p.graph.nodes[m.node].sources)
        if (src.node >= 0 && member_of[src.node] != number && !kernel.reads.contains(src.node))
          fail(p, k, src.node, "used, but neither evaluated nor read here");
    // Order: reads follow the store, in a kernel of a higher level; in-place stores follow all reads.
    for (const auto& [node, at] : kernel.reads) {
      const FusionNode& s = p.graph.nodes[node];
      if (s.kind != FusionNodeKind::Buffer) {
        const int from = p.kernel_of[node];
        if (from < 0) fail(p, k, node, "read, but stored nowhere");
        if (p.kernels[from].level <= kernel.level) fail(p, k, node, "read before it is stored");
        continue;
      }
      auto it = stores.find(static_cast<int>(s.uop->integer()));
      if (it == stores.end()) continue;
      const int writer = p.kernel_of[it->second];
      if (writer == number ? !reads_only_what_it_writes(p, number, node, it->second)
                           : kernel.level <= p.kernels[writer].level)
        fail(p, k, node, "overwritten before it is read");
    }
    // Loops: every element is stored once, and a sum runs over a parallel axis only in blocks.
    auto place = [&](int axis) { return std::ranges::find(kernel.inner, axis); };
    check_late(p, k);
    for (const ReductionNest& n : kernel.nests)
      for (size_t i = 0; i < n.axes.size(); ++i) {
        const int a = n.axes[i];
        if (contains(kernel.outer, a)) continue;
        if (i > 0 && !contains(kernel.outer, n.axes[i - 1]) && place(n.axes[i - 1]) >= place(a))
          fail(p, k, kernel.outputs[0].node, "the loops of a reduction are out of order");
        if (place(a) == kernel.inner.end()) fail(p, k, kernel.outputs[0].node, "a reduced axis is no loop");
        for (int around : p.space.axes_of(n.at))
          if (!contains(kernel.outer, around) && place(around) >= place(a))
            fail(p, k, kernel.outputs[0].node, "a reduction is nested in its own loop");
      }
    for (const KernelStore& o : kernel.outputs) {
      const Shape& shape = p.graph.nodes[o.node].uop->shape;
      const FusionNodeKind kind = p.graph.nodes[o.node].kind;
      std::vector<int> axes;
      for (size_t d = 0; d < p.space[o.at].size(); ++d)
        if (kind != FusionNodeKind::Box && !p.space.covers(p.space[o.at][d], shape[d].bound(), axes))
          fail(p, k, o.node, "not each element is stored");
      std::ranges::sort(axes);
      if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) fail(p, k, o.node, "only a diagonal is stored");
      for (int a : axes)
        if (!contains(kernel.outer, a) && place(a) == kernel.inner.end()) fail(p, k, o.node, "stored over no loop");
      if (kind != FusionNodeKind::Box)
        for (int a : kernel.outer)
          if (p.space.least(a) == 0 && a != kernel.blocks.axis && !contains(axes, a))
            fail(p, k, o.node, "stored in the first task of a range without tasks");
      if (p.kernel_of[o.node] != number) fail(p, k, o.node, "stored twice");
    }
  }
}

}  // namespace sinter::schedule
