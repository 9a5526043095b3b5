// Padding of one axis with elements of the axis.
#pragma once

#include "ir/build.h"
#include "sinter/padding.h"

namespace sinter::tensor {

/// x with `before` and `after` more elements along the axis; mode is not Constant. UsageError if the axis is too short.
ir::UOp pad_from_itself(ir::UOp x, int64_t axis, int64_t before, int64_t after, PadMode mode);

}  // namespace sinter::tensor
