// softmax and its kin, and layer normalisation.
#include <fmt/core.h>

#include <limits>

#include "sinter/ops.h"
#include "tensor/axes.h"
#include "tensor/operands.h"
#include "tensor/reduce.h"
#include "tensor/softmax.h"

namespace sinter {
namespace tensor {

using ir::Combine;
using ir::UOp;

namespace {
/// The largest along the axes, in x's shape and without history: it only keeps exp in range (SEMANTICS G7).
UOp largest(UOp x, const ir::Ints& axes) { return ir::detach(ir::reduce(Combine::Max, x, axes)); }
}  // namespace

UOp softmax(UOp x, int64_t axis) {
  UOp e = ir::exp(x - ir::expand(largest(x, {axis}), x->shape));
  return e / ir::expand(ir::reduce(Combine::Add, e, {axis}), x->shape);
}

UOp log_softmax(UOp x, int64_t axis) {
  UOp shifted = x - ir::expand(largest(x, {axis}), x->shape);
  return shifted - ir::expand(ir::log(ir::reduce(Combine::Add, ir::exp(shifted), {axis})), x->shape);
}

UOp logsumexp(UOp x, const ir::Ints& axes) {
  // An infinite largest would make inf - inf.
  UOp top = largest(x, axes);
  UOp finite = ir::lt(ir::alu(ir::Op::Abs, {top}), ir::like(top, std::numeric_limits<double>::infinity()));
  top = ir::where(finite, top, ir::like(top, 0.0));
  return ir::log(ir::reduce(Combine::Add, ir::exp(x - ir::expand(top, x->shape)), axes)) + top;
}

}  // namespace tensor

inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::usage_error;
using tensor::wrap;

UOp float_operand(const Arg& x) { return tensor::operand(x, tensor::common_float_type({&x})); }

/// weight or bias of a normalisation, in x's type; null when the handle is empty.
UOp affine(const Tensor& t, const char* role, UOp x, const Shape& normalized) {
  if (!t.defined()) return {};
  UOp n = tensor::node_of(t);
  if (!(n->shape == normalized))
    usage_error(fmt::format("the {} is {}, the normalised sizes are {}; they must be equal", role, describe(n),
                            to_string(normalized)));
  return ir::broadcast_to(ir::cast(n, x->dtype), x->shape);
}

}  // namespace

Tensor softmax(Arg x, int64_t axis) {
  Call call("softmax", x.where());
  UOp n = float_operand(x);
  return wrap(tensor::softmax(n, tensor::axis_of(n, axis)));
}

Tensor log_softmax(Arg x, int64_t axis) {
  Call call("log_softmax", x.where());
  UOp n = float_operand(x);
  return wrap(tensor::log_softmax(n, tensor::axis_of(n, axis)));
}

Tensor logsumexp(Arg x, Axes axes, bool keepdim) {
  Call call("logsumexp", x.where());
  UOp n = float_operand(x);
  ir::Ints list = tensor::axes_of(n, axes);
  UOp out = tensor::logsumexp(n, list);
  return wrap(keepdim ? out : tensor::drop_axes(out, list));
}

Tensor layer_norm(Arg x, const Shape& normalized, const Tensor& weight, const Tensor& bias, double eps) {
  Call call("layer_norm", x.where());
  UOp n = float_operand(x);
  bool fits = normalized.rank() > 0 && normalized.rank() <= n->rank();
  ir::Ints axes;
  for (size_t i = 0; fits && i < normalized.rank(); ++i) {
    const size_t a = n->rank() - normalized.rank() + i;
    fits = normalized[i] == n->shape[a];
    axes.push_back(static_cast<int64_t>(a));
  }
  if (!fits)
    usage_error(
        fmt::format("{} does not end in the sizes {} that are to be normalised; give the last sizes of the tensor",
                    describe(n), to_string(normalized)));
  UOp off = n - ir::expand(tensor::mean_over(n, axes), n->shape);
  UOp scale = 1.0 / ir::sqrt(tensor::variance_over(n, axes, 0) + eps);
  UOp out = off * ir::expand(scale, n->shape);
  if (UOp w = affine(weight, "weight", n, normalized)) out = out * w;
  if (UOp b = affine(bias, "bias", n, normalized)) out = out + b;
  return wrap(out);
}

}  // namespace v0
}  // namespace sinter
