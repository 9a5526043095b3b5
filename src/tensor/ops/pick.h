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
/// index as int64 in 0 to size - 1; negative indices count from the end. An index out of range becomes `size`, and the
/// first host read reports it.
ir::UOp normalize_index(ir::UOp index, const Dim& size);

}  // namespace sinter::tensor
