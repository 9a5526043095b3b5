// Orders of a graph, by explicit stacks: depth is no limit.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "uop/graph.h"

namespace sinter::ir {

/// Every node reachable from the roots, sources before users, each once; deterministic. `enter(node)` says whether
/// the walk goes on to the node's sources (it is listed either way). Sets node->position to the place in the list.
template <class Enter>
std::vector<UOp> topological(std::span<const UOp> roots, Enter enter) {
  std::vector<UOp> order;
  if (roots.empty()) return order;
  const uint64_t mark = roots[0]->graph->next_mark();
  std::vector<std::pair<UOp, size_t>> stack;  // node, sources already seen
  auto push = [&](UOp n) {
    if (n->mark == mark) return;
    n->mark = mark;
    stack.emplace_back(n, enter(n) ? 0 : n->src.size());
  };
  for (UOp root : roots) {
    push(root);
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (next < n->src.size()) {
        push(n->src[next++]);
        continue;
      }
      n->position = static_cast<uint32_t>(order.size());
      order.push_back(n);
      stack.pop_back();
    }
  }
  return order;
}

inline std::vector<UOp> topological(std::span<const UOp> roots) {
  return topological(roots, [](UOp) { return true; });
}
inline std::vector<UOp> topological(UOp root) { return topological(std::span<const UOp>(&root, 1)); }

}  // namespace sinter::ir
