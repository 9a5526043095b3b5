// Activations, written so that neither values nor gradients overflow in intermediate results.
#include "tensor/ops/activation.h"

#include <cmath>
#include <numbers>

#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter {

using ir::UOp;

namespace tensor {
namespace {

UOp not_negative(UOp x) { return ir::le(ir::like(x, 0.0), x); }
/// -|x|. Not Abs: at 0 this has the slope of the branch that the callers take there, so their gradient at 0 is right
/// too.
UOp minus_abs(UOp x) { return ir::where(not_negative(x), -x, x); }

}  // namespace

UOp sigmoid(UOp x) {
  UOp e = ir::exp(minus_abs(x));
  return ir::where(not_negative(x), ir::like(x, 1.0), e) / (e + 1.0);
}

UOp softplus_rest(UOp x) { return ir::alu(ir::Op::Log1p, {ir::exp(minus_abs(x))}); }

}  // namespace tensor

inline namespace v0 {
namespace {

using tensor::float_operand;

}  // namespace

Tensor sigmoid(Arg x) {
  tensor::Call call("sigmoid", x.where());
  UOp n = float_operand(x);
  return tensor::wrap(ir::cast(tensor::sigmoid(ir::to_compute_type(n)), n->dtype));
}

Tensor silu(Arg x) {
  tensor::Call call("silu", x.where());
  UOp given = float_operand(x), n = ir::to_compute_type(given);
  return tensor::wrap(ir::cast(n * tensor::sigmoid(n), given->dtype));
}

Tensor gelu(Arg x, Gelu form) {
  tensor::Call call("gelu", x.where());
  UOp given = float_operand(x), n = ir::to_compute_type(given);
  UOp inner = form == Gelu::Exact
                  ? ir::alu(ir::Op::Erf, {n * std::sqrt(0.5)})
                  : ir::alu(ir::Op::Tanh, {(n + n * n * n * 0.044715) * std::sqrt(2 / std::numbers::pi)});
  return tensor::wrap(ir::cast(n * 0.5 * (inner + 1.0), given->dtype));
}

Tensor relu(Arg x) {
  tensor::Call call("relu", x.where());
  UOp n = tensor::operand(x);
  tensor::require_type(!is_bool(n->dtype), x, "numbers");
  UOp zero = ir::like(n, 0.0);
  return tensor::wrap(ir::where(ir::le(n, zero), zero, n));
}

}  // namespace v0
}  // namespace sinter
