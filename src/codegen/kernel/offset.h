// Offsets and strides of memory accesses.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/kernel/ranges.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

/// Row-major offset of the element that a LOAD or STORE accesses in its Param, in elements.
ir::LinearExpr offset_of(UOp access);

/// Stride of an offset along a range, in elements; nullopt if it is not constant.
std::optional<int64_t> stride_along(const ir::LinearExpr& offset, UOp range, FreeRanges& ranges);

}  // namespace sinter::codegen
