// The walk behind passes from plan graph to plan graph: each node once, sources first.
#pragma once

#include <utility>
#include <vector>

#include "schedule/plan_graph.h"
#include "uop/build.h"
#include "uop/walk.h"

namespace sinter::schedule {

/// Replaces every node: `change(node, sources)` gets the new sources and returns the new node, or null to keep op and
/// attribute. A node whose sources stay and that is kept is the same node.
template <class Change>
void rebuild(PlanGraph& plan, Change change) {
  std::vector<ir::UOp> roots;
  for (const Output& o : plan.outputs) roots.push_back(o.value);
  const std::vector<ir::UOp> order = ir::topological(roots);
  std::vector<ir::UOp> now(order.size());
  std::vector<size_t> place(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) place[i] = roots[i]->position;
  std::vector<uint32_t> sources;  // positions, taken before `change` may walk the graph itself
  std::vector<size_t> first{0};
  for (ir::UOp n : order) {
    for (ir::UOp s : n->src) sources.push_back(s->position);
    first.push_back(sources.size());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    ir::UOp n = order[i];
    std::vector<ir::UOp> src;
    for (size_t k = first[i]; k < first[i + 1]; ++k) src.push_back(now[sources[k]]);
    ir::UOp made = change(n, src);
    if (!made) made = src == n->src ? n : ir::with_sources(*plan.graph, n, std::move(src));
    now[i] = made;
  }
  for (size_t i = 0; i < roots.size(); ++i) plan.outputs[i].value = now[place[i]];
}

}  // namespace sinter::schedule
