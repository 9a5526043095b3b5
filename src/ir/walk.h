// Topological orders, with explicit stacks: depth is unlimited.
#pragma once

#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Nodes whose sources are being visited, each with the number of sources visited so far.
using WalkStack = std::vector<std::pair<UOp, size_t>>;

/// Appends to `order` every node reachable from the root that does not have the mark yet, sources before users, and
/// marks it. `enter(node)` decides whether the walk visits the node's sources; the node is listed either way. Sets
/// node->position to its index in the list. `stack` must be empty; it is passed to reuse its memory.
template <class Enter>
void append_topological(UOp root, uint64_t mark, Enter enter, std::vector<UOp>& order, WalkStack& stack) {
  if (root->mark == mark) return;
  const auto first_of = [&](UOp n) {
    n->mark = mark;
    return enter(n) ? 0 : n->src.size();
  };
  UOp n = root;  // top of the stack, kept in registers
  for (size_t next = first_of(n);;) {
    if (next < n->src.size()) {
      const UOp source = n->src[next++];
      if (source->mark == mark) continue;
      stack.emplace_back(n, next);
      n = source;
      next = first_of(n);
      continue;
    }
    n->position = static_cast<uint32_t>(order.size());
    order.push_back(n);
    if (stack.empty()) return;
    std::tie(n, next) = stack.back();
    stack.pop_back();
  }
}

/// The same for several roots, each node once. Deterministic.
template <class Enter>
std::vector<UOp> topological(std::span<const UOp> roots, Enter enter) {
  std::vector<UOp> order;
  if (roots.empty()) return order;
  const uint64_t mark = roots[0]->graph->next_mark();
  WalkStack stack;
  for (UOp root : roots) append_topological(root, mark, enter, order, stack);
  return order;
}

inline std::vector<UOp> topological(std::span<const UOp> roots) {
  return topological(roots, [](UOp) { return true; });
}
inline std::vector<UOp> topological(UOp root) { return topological(std::span<const UOp>(&root, 1)); }

}  // namespace sinter::ir
