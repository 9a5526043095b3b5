// Adds a leading axis to all values that depend on a batch.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::batching {

/// What stands for one element of a batch, and the batch: the same shape behind a leading axis.
struct BatchedInput {
  ir::UOp element, all;
};

/// In:  values of the tensor graph, built from the elements.
/// Out: for each its value for all elements, [count, ...]; a value that depends on no element is repeated.
/// Leaves and values without history stay without: gradients pass through the batches alone. A write to a part of a
/// value becomes a select.
std::vector<ir::UOp> batched(std::span<const ir::UOp> values, std::span<const BatchedInput> batches, const Dim& count);

}  // namespace sinter::batching
