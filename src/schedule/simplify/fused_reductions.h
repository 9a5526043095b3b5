// Reductions that need an earlier one over the same elements, written as one reduction of several accumulators.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In: sums of squared distances from the mean, and sums of exp(x - largest x), each beside the mean or maximum that it
///     needs.
/// Out: Moments in the place of the first, ExpSum in the place of the sum and the maximum, where a row of x is too long
/// to
///     be kept until it is read again. So x is read once. A mean that others read stays a sum of its own.
/// The sum itself and its shape decide, before there are kernels, and no consumer does: fused and unfused runs round
/// alike, and so does a value that is computed alone or beside others (SEMANTICS F2, F3).
void fuse_reductions(PlanGraph& plan);

/// The maximum in a sum of exp(x - maximum), along the axes of the sum.
struct ExpSumMatch {
  ir::UOp maximum = {};
  bool guarded = false;  ///< 0 is taken instead of one that is not finite
};
/// Null where `sum` is no such sum.
ExpSumMatch match_exp_sum(ir::UOp sum);

}  // namespace sinter::schedule
