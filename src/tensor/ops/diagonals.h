// Diagonals for other ops.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// The elements of x whose indices along axes a and b, which have one size, are equal. Axis b is dropped.
ir::UOp take_diagonal(ir::UOp x, int64_t a, int64_t b);

}  // namespace sinter::tensor
