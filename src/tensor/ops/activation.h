// Float functions that several ops share.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// 1 / (1 + e^-x), with full relative accuracy on both sides.
ir::UOp sigmoid(ir::UOp x);
/// log(1 + e^-|x|): softplus(x) - max(x, 0).
ir::UOp softplus_rest(ir::UOp x);
/// log(1 + e^x).
ir::UOp softplus(ir::UOp x);
/// log(sigmoid(x)).
ir::UOp log_sigmoid(ir::UOp x);

}  // namespace sinter::tensor
