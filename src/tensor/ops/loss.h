// What losses share: their operands in one shape and type, and the reduction at their end.
#pragma once

#include "ir/build.h"
#include "sinter/losses.h"

namespace sinter::tensor {

/// The sum of all elements.
ir::UOp total_of(ir::UOp x);
/// x reduced, rounded to the type of the loss, as a tensor.
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
/// Three operands of a loss in one type and on one device, in the compute dtype.
struct ThreeOperands {
  ir::UOp a, b, c;
  DType type;
};
ThreeOperands three_operands(const Arg& a, const Arg& b, const Arg& c);
/// The weight of each element, broadcast to x, in its type. Null if the handle is empty.
ir::UOp weight_operand(const Tensor& weight, ir::UOp x, const char* role = "weight");

/// max(x, least). NaN passes through.
ir::UOp at_least(ir::UOp x, double least);
/// max(x, 0). The gradient at 0 is 0, as in PyTorch's losses.
ir::UOp at_least_zero(ir::UOp x);

}  // namespace sinter::tensor
