// Passes from plan graph to plan graph.
#pragma once

#include <vector>

#include "schedule/plan_graph.h"
#include "uop/build.h"
#include "uop/rebuild.h"
#include "uop/walk.h"

namespace sinter::schedule {

/// ir::rebuild() on all outputs.
template <class Change>
void rebuild(PlanGraph& plan, Change change) {
  std::vector<ir::UOp> roots;
  for (const Output& o : plan.outputs) roots.push_back(o.value);
  const std::vector<ir::UOp> now = ir::rebuild(*plan.graph, roots, change);
  for (size_t i = 0; i < roots.size(); ++i) plan.outputs[i].value = now[i];
}

}  // namespace sinter::schedule
