// softmax, log_softmax and logsumexp.
#include <limits>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/softmax.h"

namespace sinter {
namespace tensor {

namespace {

/// The largest element along the axes, without history: it only keeps exp in range (SEMANTICS G7).
UOp largest(UOp x, const Ints& axes) { return detach(reduce(Combine::Max, x, axes)); }
}  // namespace

UOp softmax(UOp x, int64_t axis) {
  UOp e = exp(x - expand(largest(x, {axis}), x->shape, {axis}));
  return e / expand(reduce(Combine::Add, e, {axis}), x->shape, {axis});
}

UOp log_softmax(UOp x, int64_t axis) {
  UOp shifted = x - expand(largest(x, {axis}), x->shape, {axis});
  return shifted - expand(log(reduce(Combine::Add, exp(shifted), {axis})), x->shape, {axis});
}

UOp logsumexp(UOp x, const Ints& axes) {
  // An infinite maximum would give inf - inf.
  UOp top = largest(x, axes);
  UOp finite = lt(alu(Op::Abs, {top}), like(top, std::numeric_limits<double>::infinity()));
  top = where(finite, top, like(top, 0.0));
  return log(reduce(Combine::Add, exp(x - expand(top, x->shape, axes)), axes)) + top;
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

Tensor softmax(Arg x, int64_t axis, DType dtype) {
  Call call("softmax", x.where());
  UOp n = float_operand(x, dtype);
  return wrap(cast(tensor::softmax(to_compute_type(n), axis_of(n, axis)), n->dtype));
}

Tensor log_softmax(Arg x, int64_t axis, DType dtype) {
  Call call("log_softmax", x.where());
  UOp n = float_operand(x, dtype);
  return wrap(cast(tensor::log_softmax(to_compute_type(n), axis_of(n, axis)), n->dtype));
}

Tensor logsumexp(Arg x, Axes axes, bool keepdim) {
  Call call("logsumexp", x.where());
  UOp n = float_operand(x);
  Ints list = axes_of(n, axes);
  UOp out = cast(tensor::logsumexp(to_compute_type(n), list), n->dtype);
  return wrap(keepdim ? insert_axes(out, list) : out);
}

}  // namespace v0
}  // namespace sinter
