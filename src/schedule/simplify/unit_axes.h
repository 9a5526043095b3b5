// Axes of size 1 that come and go, as `keepdim` makes them.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a reshape that only drops axes of size 1, of elementwise values of what a reshape only gave such axes: `x -
/// x.sum(1, true) / n`
///      has one around the quotient.
/// Out: the same elementwise values of what was there before those axes, so that passes which look for a quotient of a
/// sum find it.
void drop_unit_axes(PlanGraph& plan);

}  // namespace sinter::schedule
