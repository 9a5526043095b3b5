// Axes and sizes as users write them: negative ones count from the end, a size may be symbolic.
#pragma once

#include "ir/build.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// The axis counted from 0; UsageError when x has no such axis.
int64_t axis_of(ir::UOp x, int64_t axis);
/// Ascending, from 0; all of them when none are given. UsageError when out of range or given twice.
ir::Ints axes_of(ir::UOp x, const Axes& axes);
/// UsageError unless `axis` has a fixed size; `what` says what cannot be done with a symbolic one, and `instead` what
/// can.
int64_t fixed_size(ir::UOp x, int64_t axis, const char* what, const char* instead = "");

/// How many of begin, begin + step, ... come before end; the largest int64 if they are more. The step is not 0.
int64_t range_length(int64_t begin, int64_t end, int64_t step);

/// The size as a scalar node: a constant, or the variable.
ir::UOp size_node(const Dim& size, DType dtype, Device device);
/// The product of those axes' sizes as a scalar node.
ir::UOp count_of(ir::UOp x, const ir::Ints& axes, DType dtype);
/// int64 of that shape: each element's place along one axis.
ir::UOp position(const Shape& shape, int64_t axis, Device device);
/// int64 of that shape: each element's place in row-major order.
ir::UOp flat_position(const Shape& shape, Device device);
/// x without those axes, which have size 1.
ir::UOp drop_axes(ir::UOp x, const ir::Ints& axes);
/// x with an axis of size 1 inserted before `axis`.
ir::UOp insert_axis(ir::UOp x, int64_t axis);
/// x with axes of size 1 inserted, which are `axes` of the result.
ir::UOp insert_axes(ir::UOp x, const ir::Ints& axes);
/// x with `from` moved to the place `to`.
ir::UOp move_axis(ir::UOp x, int64_t from, int64_t to);
/// The elements [begin, end) along one axis.
ir::UOp shrink_axis(ir::UOp x, int64_t axis, int64_t begin, int64_t end);
/// x from `before` on along one axis, which becomes `size` long; zero elsewhere.
ir::UOp pad_axis(ir::UOp x, int64_t axis, int64_t before, int64_t size);

}  // namespace sinter::tensor
