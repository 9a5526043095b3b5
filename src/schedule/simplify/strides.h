// Memory order as one distance per axis, followed through movement ops.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/node.h"

namespace sinter::schedule {

/// Per axis the distance of neighbours in memory, in elements; 0 where they are one; or one of the two below.
using Strides = std::vector<int64_t>;
inline constexpr int64_t kNoDistance = -1;    ///< there is no one distance
inline constexpr int64_t kPartsInOrder = -2;  ///< of what the value is made, some is in order and some is not

/// Of a stored value.
Strides row_major(const Shape& shape);
/// Of what a movement op makes of a value that lies like `in`.
Strides strides_after(ir::UOp movement, const Strides& in);

}  // namespace sinter::schedule
