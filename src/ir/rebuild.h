// The walk behind graph-to-graph passes.
#pragma once

#include <span>
#include <vector>

#include "ir/walk.h"

namespace sinter::ir {

/// Rebuilds every node below the roots in `g`, sources first, and returns the new roots. `change(node, new sources)`
/// gives a node's replacement, or null to keep op and attribute; a node that is already in `g` and whose sources are
/// unchanged is then kept itself. `change` may walk the graph.
template <class Change>
std::vector<UOp> rebuild(Graph& g, std::span<const UOp> roots, Change change) {
  const std::vector<UOp> order = topological(roots);
  std::vector<uint32_t> place, sources;  // recorded before `change` may walk the graph itself
  std::vector<size_t> first{0};
  for (UOp root : roots) place.push_back(root->position);
  for (UOp n : order) {
    for (UOp s : n->src) sources.push_back(s->position);
    first.push_back(sources.size());
  }
  std::vector<UOp> now(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    UOp n = order[i];
    std::vector<UOp> src;
    for (size_t k = first[i]; k < first[i + 1]; ++k) src.push_back(now[sources[k]]);
    now[i] = change(n, src);
    if (now[i]) continue;
    const bool stays = n->graph == &g && src == n->src;
    now[i] = stays ? n : g.make({n->op, n->dtype, n->shape, src, n->attr, n->device});
  }
  return mapped(place, [&](uint32_t p) { return now[p]; });
}
template <class Change>
UOp rebuild(Graph& g, UOp root, Change change) {
  return rebuild(g, std::span<const UOp>(&root, 1), change)[0];
}

}  // namespace sinter::ir
