// The walk behind passes from plan graph to plan graph.
#pragma once

#include <algorithm>
#include <vector>

#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Whether n is a float REDUCE by this combine: passes may rewrite those.
inline bool is_reduce(UOp n, ir::Combine combine) {
  return n->op == Op::Reduce && n->reduction().combine == combine && is_float(n->dtype);
}

/// ir::rebuild() on all outputs. A replacement inherits the program position of the node it replaces.
template <class Change>
void rebuild(PlanGraph& plan, Change change) {
  const std::vector<UOp> now = ir::rebuild(*plan.graph, values_of(plan), [&](UOp n, const std::vector<UOp>& src) {
    UOp made = change(n, src);
    if (!made && !std::ranges::equal(src, n->src)) made = ir::with_sources(*plan.graph, n, src);
    if (!made) return made;
    if (const auto known = plan.positions.find(n.get()); known != plan.positions.end())
      plan.positions.emplace(made.get(), known->second);
    return made;
  });
  for (size_t i = 0; i < now.size(); ++i) plan.outputs[i].value = now[i];
}

}  // namespace sinter::schedule
