// Axes and sizes as users write them. Negative axes count from the end; a size may be symbolic.
#pragma once

#include "ir/build.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// The axis counted from 0. UsageError if x has no such axis.
int64_t axis_of(ir::UOp x, int64_t axis);
/// The axes counted from 0, ascending; all axes if none are given. UsageError if one is out of range or given twice.
ir::Ints axes_of(ir::UOp x, const Axes& axes);
/// The size of `axis`. UsageError if it is symbolic: `what` says what is impossible then, `instead` what is possible.
int64_t fixed_size(ir::UOp x, int64_t axis, const char* what, const char* instead = "");

/// The number of elements of begin, begin + step, ... before end, at most the largest int64. The step is not 0.
int64_t range_length(int64_t begin, int64_t end, int64_t step);

/// The size as a scalar node: a constant or the variable.
ir::UOp size_node(const Dim& size, DType dtype, Device device);
/// The product of the sizes of `axes` as a scalar node.
ir::UOp count_of(ir::UOp x, const ir::Ints& axes, DType dtype);
/// An int64 node of that shape: each element's index along one axis.
ir::UOp position(const Shape& shape, int64_t axis, Device device);
/// An int64 node of that shape: each element's index in row-major order.
ir::UOp flat_position(const Shape& shape, Device device);
/// x without `axes`, which have size 1.
ir::UOp drop_axes(ir::UOp x, const ir::Ints& axes);
/// x with an axis of size 1 inserted before `axis`.
ir::UOp insert_axis(ir::UOp x, int64_t axis);
/// x with axes of size 1 inserted; `axes` are their positions in the result.
ir::UOp insert_axes(ir::UOp x, const ir::Ints& axes);
/// x with axis `from` moved to position `to`.
ir::UOp move_axis(ir::UOp x, int64_t from, int64_t to);
/// The elements [begin, end) along one axis.
ir::UOp shrink_axis(ir::UOp x, int64_t axis, int64_t begin, const Dim& end);
/// x padded with zeros along one axis to `size` elements; x begins at `before`.
ir::UOp pad_axis(ir::UOp x, int64_t axis, int64_t before, int64_t size);

}  // namespace sinter::tensor
