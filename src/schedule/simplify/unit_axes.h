// Axes of size 1 that are added and dropped again, as by `keepdim`.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a reshape that only drops axes of size 1, above elementwise ops above a reshape that only added them:
///      `x - x.sum(1, true) / n` has one around the quotient.
/// Out: the same elementwise ops without those axes, so that later passes recognize the quotient of a sum.
void drop_unit_axes(PlanGraph& plan);

}  // namespace sinter::schedule
