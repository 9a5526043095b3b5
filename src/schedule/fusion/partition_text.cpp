// Prints the partition: every decision with its prices, and a line per kernel (DEBUG=3).
#include <fmt/core.h>

#include "schedule/fusion/partition.h"

namespace sinter::schedule {

std::string to_string(const Partition& p) {
  static constexpr const char* kChoices[] = {"inline", "join", "split"};
  auto ns = [](double price) { return price < 1e18 ? fmt::format("{:.0f}", price) : std::string("-"); };
  auto axes = [&](const std::vector<int>& list) {
    std::string text;
    for (int a : list)
      text += (text.empty() ? "" : ", ") + fmt::format("a{}:{}", a, sinter::to_string(p.space.size(a)));
    return text;
  };
  auto names = [](const std::vector<int>& list) {
    std::string text;
    for (int a : list) text += fmt::format("{}a{}", text.empty() ? "" : ", ", a);
    return text;
  };
  auto index = [&](IndexId id) {
    std::string text;
    for (const DimIndex& d : p.space[id]) {
      std::string dim;
      for (const Digit& g : d.digits)
        dim += g.div == 1 && p.space.bound(g.axis) == g.size ? fmt::format("a{}", g.axis)
                                                             : fmt::format("a{}/{}%{}", g.axis, g.div, g.size);
      if (d.opaque) dim = fmt::format("f({})", axes(d.axes));
      if (d.offset) dim += fmt::format("{:+}", d.offset);
      text += (text.empty() ? "" : ", ") + (dim.empty() ? "0" : dim);
    }
    return fmt::format("[{}]", text);
  };
  std::string text = fmt::format("partition: {} nodes, {} kernels\n", p.graph.nodes.size(), p.kernels.size());
  for (const FusionDecision& d : p.decisions) {
    text += fmt::format("  {:44} k{:<3} {:6} at {:24} inline {} join {} split {} ns: {}",
                        to_string(p.graph.nodes[d.node]), d.kernel, kChoices[static_cast<int>(d.choice)], index(d.at),
                        ns(d.inline_price), ns(d.join_price), ns(d.split_price), d.reason);
    text += d.lost.empty() ? "\n" : fmt::format(", serializes {}\n", names(d.lost));
  }
  for (const KernelMerge& m : p.merges) {
    text += fmt::format("  {:44} k{:<3} merged: {}, {} ns for {} ns:", to_string(p.graph.nodes[m.node]), m.kernel,
                        m.why, ns(m.price), ns(m.gain));
    for (auto [a, b] : m.pairs) text += fmt::format(" a{}=a{}", a, b);
    text += "\n";
  }
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    const FusionGroup& kernel = p.kernels[k];
    text +=
        fmt::format("  k{} level {} outer ({}) inner ({})", k, kernel.level, axes(kernel.outer), axes(kernel.inner));
    if (kernel.blocks.axis >= 0) text += fmt::format(" a{} in blocks of {}", kernel.blocks.axis, kernel.blocks.size);
    for (const ReductionNest& n : kernel.nests) text += fmt::format(" sum over ({}) at {}", names(n.axes), index(n.at));
    text += fmt::format(" {} nodes {:.0f} ns, stores", kernel.members.size(), kernel.time);
    for (const KernelStore& o : kernel.outputs) {
      text += fmt::format(" {}", to_string(p.graph.nodes[o.node]));
      for (int number : p.graph.nodes[o.node].outputs)
        if (const int home = p.graph.homes[number]; home >= 0) text += fmt::format(" in place of slot{}", home);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sinter::schedule
