// Picking by index tensors, shared by indexing, gather, embedding and the losses.
#pragma once

#include <vector>

#include "ir/build.h"

namespace sinter::tensor {

/// The index in a dtype that GATHER takes: int32 or int64. UsageError for floats and bools.
ir::UOp index_operand(ir::UOp index);
/// x with `axes` replaced by the common shape of the indices, at position `place` among the other axes: out[.., s, ..]
/// = x[.., index0[s], .., index1[s], ..]. Each index is checked against its own axis.
ir::UOp pick(ir::UOp x, const ir::Ints& axes, std::vector<ir::UOp> index, int64_t place);
/// The shape that pick() gives. Indices broadcast against each other.
Shape picked_shape(ir::UOp x, const ir::Ints& axes, std::vector<ir::UOp> index, int64_t place);
/// The inverse of pick(): x with `value`, of the shape that pick() gives, scattered to the picked elements, in
/// row-major order of the index.
ir::UOp put(ir::UOp x, const ir::Ints& axes, std::vector<ir::UOp> index, int64_t place, ir::UOp value,
            ir::ScatterMode mode);
/// UsageError unless index has as many axes as x.
void require_same_rank(ir::UOp x, ir::UOp index);
/// index as int64 in 0 to size - 1; negative indices count from the end. An index out of range becomes `size`, and the
/// first host read reports it, as one along `axis`.
ir::UOp normalize_index(ir::UOp index, const Dim& size, int64_t axis);

}  // namespace sinter::tensor
