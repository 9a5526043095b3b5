// Rows to be sorted, shared by sorting, quantiles and counting.
#pragma once

#include "ir/build.h"

namespace sinter::tensor {

/// x with the axis that is sorted behind the others.
struct SortRows {
  ir::UOp x;
  int64_t axis = 0;  ///< where the axis was
  int64_t size = 0;
  bool scalar = false;  ///< x was a scalar
  int64_t last() const { return static_cast<int64_t>(x->rank()) - 1; }
  /// A result with the axis in its place.
  ir::UOp back(ir::UOp y) const;
  /// A result of one element per row: the axis is dropped, or in its place with size 1.
  ir::UOp back_as_one(ir::UOp y, bool keepdim) const;
};
/// UsageError if the axis has no fixed size.
SortRows rows_along(ir::UOp x, int64_t axis);
/// All elements as one row.
SortRows all_in_one(ir::UOp x);

/// bool: whether an element is NaN.
ir::UOp is_nan(ir::UOp x);
/// int64: before which elements of `sorted`, ascending along its last axis, the values belong; behind equal ones if
/// `right`. The other axes are equal.
ir::UOp search_sorted(ir::UOp sorted, ir::UOp values, bool right);

}  // namespace sinter::tensor
