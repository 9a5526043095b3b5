// A reduction that depends on an earlier one over the same elements becomes one reduction with several accumulators.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  sums of squared distances from a mean, and sums of exp(x - maximum), each beside the mean or maximum it needs.
/// Out: Moments instead of the sum of squares, ExpSum instead of the sum and the maximum, if a row of x is too long to
///      stay cached until it is read again. x is read once then. A mean with other readers stays a sum of its own.
/// Decided by the sum and its shape alone, before the partition and without regard to consumers. Fused and unfused runs
/// round alike, and a value does not depend on what is computed beside it (SEMANTICS F2, F3).
void fuse_reductions(PlanGraph& plan);

/// The maximum in a sum of exp(x - maximum), over the same axes as the sum.
struct ExpSumMatch {
  UOp maximum = {};
  bool guarded = false;  ///< a maximum that is not finite is replaced by 0
};
/// `maximum` is null if `sum` has another form.
ExpSumMatch match_exp_sum(UOp sum);
/// Whether n is a softmax weight: e / expand(sum of e), with e = exp(x - maximum).
bool is_softmax_weight(UOp n);
/// The x of a softmax weight.
inline UOp scores_of(UOp weight) { return weight->src[0]->src[0]->src[0]; }

}  // namespace sinter::schedule
