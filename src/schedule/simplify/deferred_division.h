// Averages whose weights are a softmax: divided once, not once per weight.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In: REDUCE(Add, view(e / expand(l)) * y) with e = exp(x - maximum), and l the sum of e, the same along the axes of
/// the outer sum. Out: REDUCE(Add, view(e) * y) / l. So the weights need l only when the sum is done, and both sums can
/// share a sweep. Safe below the maximum: no e is above 1 and l is at least 1. Without it e * y would overflow where e
/// / l * y does not. Decided on the graph alone: fused and unfused runs round alike (SEMANTICS F2).
void defer_division(PlanGraph& plan);

}  // namespace sinter::schedule
