// Bool masks: where they are true, which is a number that only the data know.
#pragma once

#include <span>
#include <vector>

#include "ir/build.h"
#include "sinter/tensor.h"
#include "tensor/ops/index.h"

namespace sinter::tensor {

/// Whether one of the items is a bool mask.
bool has_mask(std::span<const Index> items);

/// An index whose masks are int64 positions.
struct UnmaskedIndex {
  Shape shape;  ///< of x with the axes under each mask merged into one: what the items index
  std::vector<Index> items;
};
/// Reads the masks. UsageError for a mask whose shape is not that of the axes at which it stands, and inside a function
/// whose calls all run one program. Not inside a Call: no bare node lives across a host read.
UnmaskedIndex unmask(const Tensor& x, std::span<const Index> items);

/// A mask and a value for the elements where it is true, in the shape of a part of x.
struct MaskedValue {
  BasicIndex part;  ///< without the mask's selection: the numbers and slices beside it
  ir::UOp mask, value;
};
/// What assigning `value` to the items' part of x amounts to, without a host read. The mask is null unless there is one
/// mask, no item is an integer tensor, and the value is the same for all elements that the mask selects of its axes.
/// Inside a Call.
MaskedValue masked_value(ir::UOp x, std::span<const Index> items, ir::UOp value);

}  // namespace sinter::tensor
