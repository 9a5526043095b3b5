// Loss functions.
#include <fmt/core.h>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/pick.h"
#include "tensor/ops/softmax.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::Combine;
using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::usage_error;
using tensor::wrap;

UOp total(UOp x) { return ir::reduce(Combine::Add, x, ir::all_axes(x->rank())); }

UOp reduce_loss(UOp x, Reduction reduction) {
  switch (reduction) {
    case Reduction::None: return x;
    case Reduction::Sum: return total(x);
    case Reduction::Mean: return total(x) / tensor::count_of(x, ir::all_axes(x->rank()), x->dtype);
  }
  throw InternalError("no such reduction");
}

/// Prediction and target in one shape and in the compute dtype; `type` is the dtype of the loss. Shapes must be equal:
/// broadcasting would hide a forgotten axis.
struct LossOperands {
  UOp prediction, target;
  DType type;
};
LossOperands loss_operands(const Arg& x, const Arg& target) {
  const DType t = tensor::common_float_type({&x, &target});
  UOp a = tensor::operand(x, t), b = tensor::operand(target, t);
  tensor::unify_devices(a, b);
  if (!(a->shape == b->shape))
    usage_error(fmt::format("the prediction is {}, the target {}; {}", to_string(a->shape), to_string(b->shape),
                            tensor::mismatch_hint(a->shape, b->shape, "give both one shape (reshape or expand)")));
  return {ir::to_compute_type(a), ir::to_compute_type(b), t};
}

/// The class axis of [classes], [n, classes] and [n, classes, ...].
int64_t class_axis(UOp x) {
  if (!x->rank()) usage_error(fmt::format("{} has no axis of classes; give [n, classes]", describe(x)));
  return x->rank() == 1 ? 0 : 1;
}

/// -log p of each target's class. x holds log-probabilities of `given`.
UOp nll(UOp given, UOp x, int64_t axis, UOp target, const CrossEntropyOptions& options) {
  tensor::unify_devices(x, target);
  UOp index = tensor::insert_axis(tensor::index_operand(target), axis);
  Shape expected = x->shape;
  expected[static_cast<size_t>(axis)] = 1;
  if (!(index->shape == expected)) {
    std::vector<Dim> dims = x->shape.dims();
    dims.erase(dims.begin() + axis);
    usage_error(fmt::format("predictions {} need class targets of shape {}, got {}; {}", describe(given),
                            to_string(Shape(dims)), describe(target),
                            tensor::mismatch_hint(target->shape, Shape(dims), "leave out the class axis")));
  }
  // GATHER counts negative indices from the end and reports indices out of range. A negative class is an error, so it
  // becomes out of range.
  index = ir::cast(index, DType::I64);
  UOp zero = ir::like(index, 0.0), kept;
  UOp beyond = ir::broadcast_to(tensor::size_node(x->shape[axis], DType::I64, x->device), index->shape);
  if (options.ignore_index) kept = ir::ne(index, ir::like(index, ir::Scalar::of(DType::I64, *options.ignore_index)));
  index = ir::where(ir::lt(index, zero), beyond, index);
  if (kept) index = ir::where(kept, index, zero);  // an ignored class may not exist
  UOp loss = -ir::gather(x, index, axis);
  if (kept) loss = ir::where(kept, loss, ir::like(loss, 0.0));
  loss = tensor::drop_axes(loss, {axis});
  if (!kept || options.reduction != Reduction::Mean) return reduce_loss(loss, options.reduction);
  return total(loss) / ir::cast(total(ir::cast(kept, DType::I64)), x->dtype);
}

}  // namespace

Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options) {
  Call call("nll_loss", log_probabilities.where());
  UOp x = tensor::float_operand(log_probabilities);
  return wrap(ir::cast(nll(x, ir::to_compute_type(x), class_axis(x), tensor::node_of(target), options), x->dtype));
}

Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options) {
  Call call("cross_entropy", logits.where());
  UOp given = tensor::float_operand(logits), y = tensor::node_of(target);
  tensor::unify_devices(given, y);
  UOp x = ir::to_compute_type(given);
  const int64_t axis = class_axis(given);
  if (!is_float(y->dtype))
    return wrap(ir::cast(nll(given, tensor::log_softmax(x, axis), axis, y, options), given->dtype));
  if (options.ignore_index && options.ignore_index != CrossEntropyOptions().ignore_index)
    usage_error(fmt::format("ignore_index {} needs class targets, but the target is {}; leave it out",
                            *options.ignore_index, describe(y)));
  if (!(y->shape == x->shape))
    usage_error(fmt::format(
        "logits {} need probabilities of the same shape or integer classes, got {}; convert classes with to(int64)",
        describe(given), describe(y)));
  UOp loss = -ir::reduce(Combine::Add, tensor::log_softmax(x, axis) * ir::cast(y, x->dtype), {axis});
  return wrap(ir::cast(reduce_loss(loss, options.reduction), given->dtype));
}

Tensor mse_loss(Arg x, Arg target, Reduction reduction) {
  Call call("mse_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  UOp off = a - b;
  return wrap(ir::cast(reduce_loss(off * off, reduction), t));
}

Tensor l1_loss(Arg x, Arg target, Reduction reduction) {
  Call call("l1_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  return wrap(ir::cast(reduce_loss(ir::alu(ir::Op::Abs, {a - b}), reduction), t));
}

Tensor binary_cross_entropy_with_logits(Arg x, Arg target, Reduction reduction) {
  Call call("binary_cross_entropy_with_logits", x.where());
  auto [a, b, t] = loss_operands(x, target);
  // max(a, 0) - a b is exact where the prediction is confident and right, so adding the small rest does not lose it.
  UOp zero = ir::like(a, 0.0), most = ir::where(ir::le(zero, a), a, zero);
  return wrap(ir::cast(reduce_loss((most - a * b) + tensor::softplus_rest(a), reduction), t));
}

}  // namespace v0
}  // namespace sinter
