// softmax, log_softmax and logsumexp.
#include <limits>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/softmax.h"

namespace sinter {
namespace tensor {

using ir::Combine;

namespace {
/// The largest element along the axes, without history: it only keeps exp in range (SEMANTICS G7).
UOp largest(UOp x, const ir::Ints& axes) { return ir::detach(ir::reduce(Combine::Max, x, axes)); }
}  // namespace

UOp softmax(UOp x, int64_t axis) {
  UOp e = ir::exp(x - ir::expand(largest(x, {axis}), x->shape, {axis}));
  return e / ir::expand(ir::reduce(Combine::Add, e, {axis}), x->shape, {axis});
}

UOp log_softmax(UOp x, int64_t axis) {
  UOp shifted = x - ir::expand(largest(x, {axis}), x->shape, {axis});
  return shifted - ir::expand(ir::log(ir::reduce(Combine::Add, ir::exp(shifted), {axis})), x->shape, {axis});
}

UOp logsumexp(UOp x, const ir::Ints& axes) {
  // An infinite maximum would give inf - inf.
  UOp top = largest(x, axes);
  UOp finite = ir::lt(ir::alu(ir::Op::Abs, {top}), ir::like(top, std::numeric_limits<double>::infinity()));
  top = ir::where(finite, top, ir::like(top, 0.0));
  return ir::log(ir::reduce(Combine::Add, ir::exp(x - ir::expand(top, x->shape, axes)), axes)) + top;
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

Tensor softmax(Arg x, int64_t axis, DType dtype) {
  Call call("softmax", x.where());
  UOp n = float_operand(x, dtype);
  return wrap(ir::cast(tensor::softmax(ir::to_compute_type(n), axis_of(n, axis)), n->dtype));
}

Tensor log_softmax(Arg x, int64_t axis, DType dtype) {
  Call call("log_softmax", x.where());
  UOp n = float_operand(x, dtype);
  return wrap(ir::cast(tensor::log_softmax(ir::to_compute_type(n), axis_of(n, axis)), n->dtype));
}

Tensor logsumexp(Arg x, Axes axes, bool keepdim) {
  Call call("logsumexp", x.where());
  UOp n = float_operand(x);
  ir::Ints list = axes_of(n, axes);
  UOp out = ir::cast(tensor::logsumexp(ir::to_compute_type(n), list), n->dtype);
  return wrap(keepdim ? insert_axes(out, list) : out);
}

}  // namespace v0
}  // namespace sinter
