// Reductions for other ops: on nodes, along given axes, which the result lacks.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// Sums and products of bools and small integers would overflow in their own dtype: floats as autocast takes them,
/// uint64 as it is, all else as int64.
ir::UOp widen_sum(ir::UOp x);
/// How products of that dtype are summed: bools by or.
inline ir::Combine addition_of(DType dtype) { return is_bool(dtype) ? ir::Combine::Max : ir::Combine::Add; }
/// x is float.
ir::UOp mean_over(ir::UOp x, const ir::Ints& axes);
/// Mean of squared deviations from the mean, in two passes, divided by count - `correction`.
ir::UOp variance_over(ir::UOp x, const ir::Ints& axes, int64_t correction);
/// total^(1/p). Where the total is 0 it is a constant, since the derivative of the root is infinite there.
ir::UOp root(ir::UOp total, double p);
/// The p-norm along the axes of x, which is in the type of ir::to_compute_type(). Where it is 0 its gradient is 0.
ir::UOp norm_over(ir::UOp x, double p, const ir::Ints& axes);
/// int64: the smallest `place` where x has its largest (ArgMax) or smallest (ArgMin) element along the axes. The first
/// NaN wins. With `among`, elements where it is false are ignored. x has no history.
ir::UOp arg_reduce(ir::Combine combine, ir::UOp x, ir::UOp place, const ir::Ints& axes, ir::UOp among = {});
/// UsageError if an axis has no elements: they have no largest one.
void require_elements(ir::UOp x, const ir::Ints& axes);

}  // namespace sinter::tensor
