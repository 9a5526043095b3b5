// Picking by index tensors: what indexing, gather, embedding and the losses share.
#pragma once

#include <vector>

#include "ir/build.h"

namespace sinter::tensor {

/// The index as GATHER takes it: int32 or int64. UsageError for floats and bools.
ir::UOp index_operand(ir::UOp index);
/// x with the axes replaced by the common shape of the indices, at `place` among the other axes:
/// out[.., s, ..] = x[.., index0[s], .., index1[s], ..]. Each index is checked against its own axis.
ir::UOp pick(ir::UOp x, const ir::Ints& axes, std::vector<ir::UOp> index, int64_t place);
/// index as int64 from 0 to size-1: negative ones counted from the end; those out of range are `size`, and reported at
/// the first host read.
ir::UOp normalize_index(ir::UOp index, const Dim& size);

}  // namespace sinter::tensor
