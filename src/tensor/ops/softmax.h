// Normalised exponentials on nodes of floats, for the functions of that name and the losses.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

ir::UOp softmax(ir::UOp x, int64_t axis);
ir::UOp log_softmax(ir::UOp x, int64_t axis);
/// log(sum(e^x)) along the axes, which are gone.
ir::UOp logsumexp(ir::UOp x, const ir::Ints& axes);

}  // namespace sinter::tensor
