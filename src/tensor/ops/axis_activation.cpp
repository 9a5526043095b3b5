// Activations along an axis; softmax itself is in softmax.cpp.

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/softmax.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// -log(-log(1 - u)) for u uniform in [0, 1). Where u = 0, half a step stands for it: the logarithm of 0 is no number
/// to add.
UOp gumbel_noise(UOp u) {
  UOp drawn = -alu(Op::Log1p, {-u});
  return -log(maximum(drawn, like(drawn, u->dtype == DType::F64 ? 0x1p-54 : 0x1p-25)));
}

}  // namespace

Tensor glu(Arg x, int64_t axis) {
  Call call("glu", x.where());
  UOp given = float_operand(x);
  const int64_t a = axis_of(given, axis), size = fixed_size(given, a, "halves of an axis");
  if (size % 2) usage_error("axis {} of {} has the odd size {}; give two halves", axis, describe(given), size);
  UOp n = to_compute_type(given), second = tensor::shrink_axis(n, a, size / 2, size);
  return wrap(cast(tensor::shrink_axis(n, a, 0, size / 2) * tensor::sigmoid(second), given->dtype));
}

Tensor softmin(Arg x, int64_t axis) {
  Call call("softmin", x.where());
  UOp n = float_operand(x);
  return wrap(cast(tensor::softmax(-to_compute_type(n), axis_of(n, axis)), n->dtype));
}

Tensor gumbel_softmax(Arg logits, double tau, bool hard, int64_t axis, Generator* generator) {
  Call call("gumbel_softmax", logits.where());
  UOp given = float_operand(logits), n = to_compute_type(given);
  const int64_t a = axis_of(given, axis);
  if (!(tau > 0)) usage_error("tau is {}, which is not above {}; give a temperature", tau, 0);
  UOp noise = gumbel_noise(node_of(rand(n->shape, {n->dtype, generator, n->device}, logits.where())));
  UOp soft = tensor::softmax((n + noise) / tau, a);
  if (!hard) return wrap(cast(soft, given->dtype));
  require_elements(soft, {a});
  UOp place = position(soft->shape, a, soft->device), value = detach(soft);
  UOp largest = arg_reduce(Combine::ArgMax, value, place, {a});
  UOp chosen = cast(eq(place, expand(largest, soft->shape, {a})), soft->dtype);
  return wrap(cast(chosen + (soft - value), given->dtype));  // the difference is 0 and has a gradient
}

}  // namespace sinter::inline v0
