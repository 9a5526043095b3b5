// What losses share: their operands in one shape and type, and the reduction at their end.
#pragma once

#include "ir/build.h"
#include "sinter/losses.h"

namespace sinter::tensor {

/// The sum of all elements.
ir::UOp total_of(ir::UOp x);
ir::UOp reduce_loss(ir::UOp x, Reduction reduction);
/// The same, rounded to the type of the loss, as a tensor.
Tensor finished_loss(ir::UOp x, Reduction reduction, DType type);

/// Operands of a loss in one shape and in the compute dtype; `type` is the dtype of the loss.
struct LossOperands {
  ir::UOp prediction, target;
  DType type;
};
/// UsageError unless the shapes are equal: broadcasting would hide a forgotten axis.
LossOperands loss_operands(const Arg& x, const Arg& target);
/// The same check of any number of nodes in one type; names[i] is what the i-th is.
void require_equal_shapes(std::initializer_list<ir::UOp> nodes, std::initializer_list<const char*> names);
/// The weight of each element, broadcast to x, in its type. Null if the handle is empty.
ir::UOp weight_operand(const Tensor& weight, ir::UOp x, const char* role = "weight");

/// max(x, 0). The gradient at 0 is 0, as in PyTorch's losses.
ir::UOp at_least_zero(ir::UOp x);

/// The target's class with the axis of classes, in the shape of x with size 1 there: int64, at least 0. A class outside
/// [0, classes) is one that GATHER reports. UsageError for another shape; `given` names the predictions.
ir::UOp class_index(ir::UOp given, ir::UOp x, int64_t axis, ir::UOp target);

}  // namespace sinter::tensor
