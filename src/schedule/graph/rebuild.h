// Passes from plan graph to plan graph.
#pragma once

#include <vector>

#include "schedule/graph/plan_graph.h"
#include "uop/build.h"
#include "uop/rebuild.h"
#include "uop/walk.h"

namespace sinter::schedule {

/// A REDUCE of floats by this combine: what a pass may write in another form.
inline bool is_reduce(ir::UOp n, ir::Combine combine) {
  return n->op == ir::Op::Reduce && n->reduction().combine == combine && is_float(n->dtype);
}

/// ir::rebuild() on all outputs.
template <class Change>
void rebuild(PlanGraph& plan, Change change) {
  const std::vector<ir::UOp> now = ir::rebuild(*plan.graph, values_of(plan), change);
  for (size_t i = 0; i < now.size(); ++i) plan.outputs[i].value = now[i];
}

}  // namespace sinter::schedule
