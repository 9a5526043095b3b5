// Averages whose weights are a softmax: divided once, not once per weight.
#pragma once

#include "schedule/plan_graph.h"

namespace sinter::schedule {

/// In: REDUCE(Add, view(e / expand(l)) * y) with e = exp(..) and l the sum of e over axes that the outer sum runs over.
/// Out: REDUCE(Add, view(e) * y) / l. So the weights need l only when the sum is done, and both sums can share a sweep.
/// Safe for exponentials: l is at least the largest of them, so no quotient is far from 1. Decided on the graph alone:
/// fused and unfused runs round alike (SEMANTICS F2).
void divide_sums(PlanGraph& plan);

}  // namespace sinter::schedule
