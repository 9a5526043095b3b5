// Softmax, log-softmax and logsumexp on float nodes, for the public functions and the losses.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

ir::UOp softmax(ir::UOp x, int64_t axis);
ir::UOp log_softmax(ir::UOp x, int64_t axis);
/// log(sum(e^x)) along the axes, which the result lacks.
ir::UOp logsumexp(ir::UOp x, const ir::Ints& axes);

}  // namespace sinter::tensor
