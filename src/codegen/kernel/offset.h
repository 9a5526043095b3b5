// Where in a buffer an access stands.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/kernel/ranges.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

/// The row-major offset of the element that a LOAD or STORE touches in its Param, in elements.
ir::LinearExpr offset_of(ir::UOp access);

/// How far an offset moves when a range goes on by one; nothing where that is no fixed distance.
std::optional<int64_t> stride_along(const ir::LinearExpr& offset, ir::UOp range, FreeRanges& ranges);

}  // namespace sinter::codegen
