// Averages weighted by a softmax: one division per result instead of one per weight.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In: REDUCE(Add, view(e / expand(l)) * y), with e = exp(x - maximum) and l the sum of e. l is constant along the axes
/// of the outer sum.
/// Out: REDUCE(Add, view(e) * y) / l. The weights no longer depend on l, so both sums can share a loop.
/// Safe because x - maximum <= 0: no e is above 1, and l is at least 1. Without the maximum, e * y could overflow where
/// e / l * y does not. Decided on the graph alone: fused and unfused runs round alike (SEMANTICS F2).
void defer_division(PlanGraph& plan);

}  // namespace sinter::schedule
