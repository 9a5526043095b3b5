// Sums of windows over products, as in the gradient of a convolution's input, become single sums of products.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  REDUCE(Add, view of REDUCE(Add, a * b)) or REDUCE(Add, view of a * b), where the view slides a WINDOW and does
///      not broadcast.
/// Out: one REDUCE(Add, a' * b') over the axes of both: the view moves onto the factors.
/// Otherwise the inner sum would be stored, as large as all taps together, and the outer one would be no matrix
/// product. Not done if a factor is a constant, nor if the view more than doubles the elements: then computing the
/// inner sum once per element is cheaper. Decided on the graph alone: fused and unfused runs add alike (SEMANTICS F2).
void merge_nested_sums(PlanGraph& plan);

}  // namespace sinter::schedule
