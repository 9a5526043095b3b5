// The gradients of attention on tensor cores: scores and weights are computed again, a block at a time.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a sum over queries or keys of a product on tensor cores of which one factor is rounded from elementwise ops on
///      weights w = e / expand(l) of a softmax over scores x, or on its adjoint
///      (expand(sum of -(g * w / l)) + g / l) * e, where g is the product of the result's gradient with the values.
/// Out: the sum over the same elements in the same order, the axis in blocks. With the logarithm L of a row's sum of
///      exp(x), w is exp(x - L). The adjoint is w * (g - D), where D is the sum over the features of the result times
///      its gradient. Nothing is summed along a row before it is multiplied, so no scores need be stored.
/// Null if the sum has another form. Decided by the sum and its shape alone (SEMANTICS F2, F3).
/// Dao, "FlashAttention-2" (2023).
UOp softmax_gradient(ir::Graph& g, UOp sum);

}  // namespace sinter::schedule
