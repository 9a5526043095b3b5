// Reductions as other ops use them: on nodes, along given axes, which are gone from the result.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// How products of that type are added up: on bool by or.
inline ir::Combine addition_of(DType dtype) { return is_bool(dtype) ? ir::Combine::Max : ir::Combine::Add; }
/// Of floats.
ir::UOp mean_over(ir::UOp x, const ir::Ints& axes);
/// The mean of squared distances from the mean, in two passes; the count is lessened by `correction`.
ir::UOp variance_over(ir::UOp x, const ir::Ints& axes, int64_t correction);
/// int64: the smallest `place` at which x has its largest (ArgMax) or smallest (ArgMin) element
/// along the axes; the first NaN wins. Where `among` is given, elements outside of it are passed over. x has no
/// history.
ir::UOp arg_reduce(ir::Combine combine, ir::UOp x, ir::UOp place, const ir::Ints& axes, ir::UOp among = {});
/// UsageError when there is nothing along the axes: the largest of nothing is no number.
void require_elements(ir::UOp x, const ir::Ints& axes);

}  // namespace sinter::tensor
