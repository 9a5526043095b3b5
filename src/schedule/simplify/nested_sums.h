// Sums of windows over products, such as those that slide back in the gradient of a convolution's input, before kernels
// are drawn.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// REDUCE(Add, view of REDUCE(Add, a * b)) or of a * b itself, where the view slides a WINDOW and repeats nothing,
/// becomes one REDUCE(Add, a' * b') over the axes of both: the view moves onto the factors. Otherwise the inner sum,
/// which is as large as all taps together, would be stored, and a product would be no product of rows and columns. Not
/// done where a factor is a constant, nor where the view makes more than twice as many elements: such a sum is computed
/// once per element instead. Decided on the graph alone, so that fused and unfused runs add alike (SEMANTICS F2).
void merge_nested_sums(PlanGraph& plan);

}  // namespace sinter::schedule
