// Windows of what repeats elements: an image that was enlarged, and then convolved.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Stores what the factors of products see through windows, where that repeats elements between others, so that
/// neighbours have no one distance in memory. Each tap would gather them again.
void store_repeats(PlanGraph& plan);

}  // namespace sinter::schedule
