// Removes the marks of factors that may be rounded to tf32 (Op::Tf32).
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Every marked value becomes the value itself.
void drop_tf32_marks(PlanGraph& plan);

}  // namespace sinter::schedule
