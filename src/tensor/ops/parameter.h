// Weights and statistics that belong to axes of a tensor.
#pragma once

#include "ir/build.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// A weight, bias or statistic of shape `sizes`, in the type of x. Null if the handle is empty. UsageError for another
/// shape, in which `role` names it.
ir::UOp param_of(const Tensor& t, const char* role, ir::UOp x, const Shape& sizes);
/// `n`, broadcast to x from x's axis `at` on. Null if n is.
ir::UOp broadcast_at(ir::UOp n, ir::UOp x, size_t at);
/// param_of(), broadcast by broadcast_at().
ir::UOp broadcast_param(const Tensor& t, const char* role, ir::UOp x, const Shape& sizes, size_t at);

}  // namespace sinter::tensor
