// Functions of floats that several ops are made of.
#pragma once

#include "uop/build.h"

namespace sinter::tensor {

/// 1 / (1 + e^-x), with full relative accuracy on both sides.
ir::UOp sigmoid(ir::UOp x);
/// log(1 + e^x).
ir::UOp softplus(ir::UOp x);

}  // namespace sinter::tensor
