// Functions of floats that several ops are made of.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// 1 / (1 + e^-x), with full relative accuracy on both sides.
ir::UOp sigmoid(ir::UOp x);
/// log(1 + e^-|x|): what log(1 + e^x) has beyond max(x, 0).
ir::UOp softplus_rest(ir::UOp x);

}  // namespace sinter::tensor
