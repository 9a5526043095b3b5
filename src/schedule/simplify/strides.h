// Memory layout as one stride per axis, propagated through movement ops.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Per axis the stride in elements; 0 along a broadcast axis; or one of the three below.
using Strides = std::vector<int64_t>;
inline constexpr int64_t kNoStride = -1;  ///< no single stride
/// Of an elementwise result: unit stride, or runs, for some operands, and not for others.
inline constexpr int64_t kMixedStride = -2;
/// Of an axis that a RESHAPE merged: no single stride, but unit stride along the last of the axes in it, which has at
/// least kMinRun elements.
inline constexpr int64_t kUnitRuns = -3;
inline constexpr int64_t kMinRun = 8;

/// Strides of a stored value.
Strides row_major(const Shape& shape);
/// Strides after a movement op, given those of its source.
Strides strides_after(UOp movement, const Strides& in);
/// Strides of the movements on top of a stored value.
Strides strides_of_view(UOp view);

}  // namespace sinter::schedule
