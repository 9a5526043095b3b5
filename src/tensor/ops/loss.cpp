// What losses share, and those of a class among several.
#include "tensor/ops/loss.h"

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/refusals.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/parameter.h"
#include "tensor/ops/pick.h"
#include "tensor/ops/softmax.h"

namespace sinter {
namespace tensor {

UOp total_of(UOp x) { return reduce(Combine::Add, x, ir::all_axes(x->rank())); }

namespace {

UOp reduce_loss(UOp x, Reduction reduction) {
  switch (reduction) {
    case Reduction::None: return x;
    case Reduction::Sum: return total_of(x);
    case Reduction::Mean: return total_of(x) / count_of(x, ir::all_axes(x->rank()), x->dtype);
  }
  throw InternalError("no such reduction");
}

/// The target's class with the axis of classes, in the shape of x with size 1 there: int64, at least 0. A class outside
/// [0, classes) is one that GATHER reports. UsageError for another shape; `given` names the predictions.
UOp class_index(UOp given, UOp x, int64_t axis, UOp target) {
  auto dims = x->shape.dims();
  dims.erase(dims.begin() + axis);
  if (const Shape expected(dims); !(target->shape == expected))
    usage_error("predictions {} need class targets of shape {}, got {}; {}", describe(given), to_string(expected),
                describe(target), mismatch_hint(target->shape, expected, "leave out the class axis"));
  return class_numbers(insert_axis(index_operand(target), axis), x->shape[axis]);
}

}  // namespace

Tensor finished_loss(UOp x, Reduction reduction, DType type) { return wrap(cast(reduce_loss(x, reduction), type)); }

void require_equal_shapes(std::initializer_list<UOp> nodes, std::initializer_list<const char*> names) {
  const UOp first = *nodes.begin();
  for (size_t i = 1; i < nodes.size(); ++i) {
    const UOp n = nodes.begin()[i];
    if (!(n->shape == first->shape))
      usage_error("the {} is {}, the {} {}; {}", names.begin()[0], to_string(first->shape), names.begin()[i],
                  to_string(n->shape),
                  mismatch_hint(first->shape, n->shape, "give both one shape (reshape or expand)"));
  }
}

LossOperands loss_operands(const Arg& x, const Arg& target) {
  const DType t = common_float_type({&x, &target});
  UOp a = operand(x, t), b = operand(target, t);
  unify_devices(a, b);
  require_equal_shapes({a, b}, {"prediction", "target"});
  return {to_compute_type(a), to_compute_type(b), t};
}

ThreeOperands three_operands(const Arg& a, const Arg& b, const Arg& c) {
  const DType t = common_float_type({&a, &b, &c});
  UOp nodes[] = {operand(a, t), operand(b, t), operand(c, t)};
  unify_devices(nodes);
  for (UOp& n : nodes) n = to_compute_type(n);
  return {nodes[0], nodes[1], nodes[2], t};
}

UOp weight_operand(const Tensor& weight, UOp x, const char* role) {
  if (!weight.defined()) return {};
  UOp n = node_of(weight);
  if (n->rank() > x->rank() || !(common_shape(n->shape, x->shape) == x->shape))
    usage_error("the {} is {}, which does not broadcast to the prediction, {}; {}", role, describe(n),
                to_string(x->shape),
                mismatch_hint(n->shape, x->shape, "give one for each element, or for the last axes"));
  return broadcast_to(cast(on_device(n, x->device, x->shape), x->dtype), x->shape);
}

UOp at_least(UOp x, double least) {
  UOp bound = like(x, least);
  return where(lt(x, bound), bound, x);
}

UOp at_least_zero(UOp x) {
  UOp zero = like(x, 0.0);
  return where(le(x, zero), zero, x);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// The class axis of [classes], [n, classes] and [n, classes, ...].
int64_t class_axis(UOp x) {
  if (!x->rank()) usage_error("{} has no axis of classes; give [n, classes]", describe(x));
  return x->rank() == 1 ? 0 : 1;
}

/// The weight of each class, along the class axis of x. Null if there are none.
UOp class_weights(const Tensor& weight, UOp x, int64_t axis) {
  return broadcast_param(weight, "weight", x, Shape{x->shape[axis]}, static_cast<size_t>(axis));
}

double class_count(UOp x, int64_t axis) { return static_cast<double>(fixed_size(x, axis, "label_smoothing")); }

/// -log p of each target's class; the share options.label_smoothing of it is spread over all classes. x holds
/// log-probabilities of `given`.
UOp class_loss(UOp given, UOp x, int64_t axis, UOp target, const CrossEntropyOptions& options) {
  unify_devices(x, target);
  UOp index = class_index(given, x, axis, target), kept;
  if (options.ignore_index) {
    UOp number = cast(insert_axis(index_operand(target), axis), DType::I64);
    kept = ne(number, like(number, Scalar::of(DType::I64, *options.ignore_index)));
  }
  if (kept) index = where(kept, index, like(index, 0.0));  // an ignored class may not exist
  const auto only_kept = [&](UOp n) { return drop_axes(kept ? where(kept, n, like(n, 0.0)) : n, {axis}); };
  UOp weights = class_weights(options.weight, x, axis), loss = -gather(x, index, axis);
  UOp weight = weights ? gather(weights, index, axis) : UOp();
  loss = only_kept(weight ? loss * weight : loss);
  if (const double share = options.label_smoothing; share > 0) {
    UOp all = reduce(Combine::Add, weights ? x * weights : x, {axis});
    loss = loss * (1 - share) - only_kept(insert_axis(all, axis)) * (share / class_count(x, axis));
  }
  if (options.reduction != Reduction::Mean || !(kept || weight)) return reduce_loss(loss, options.reduction);
  if (weight) return total_of(loss) / total_of(only_kept(weight));
  return total_of(loss) / cast(total_of(cast(kept, DType::I64)), x->dtype);
}

void require_share(double label_smoothing) {
  if (!(label_smoothing >= 0 && label_smoothing <= 1))
    usage_error("label_smoothing is {}; give the share of a target, in [{}, {}]", label_smoothing, 0, 1);
}

}  // namespace

Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options) {
  Call call("nll_loss", log_probabilities.where());
  if (options.label_smoothing != 0)
    usage_error("label_smoothing is {}, but only cross_entropy() can spread a target; give {}", options.label_smoothing,
                0);
  UOp x = float_operand(log_probabilities);
  return wrap(cast(class_loss(x, to_compute_type(x), class_axis(x), node_of(target), options), x->dtype));
}

Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options) {
  Call call("cross_entropy", logits.where());
  require_share(options.label_smoothing);
  UOp given = float_operand(logits), y = node_of(target);
  unify_devices(given, y);
  UOp x = to_compute_type(given);
  const int64_t axis = class_axis(given);
  if (!is_float(y->dtype))
    return wrap(cast(class_loss(given, tensor::log_softmax(x, axis), axis, y, options), given->dtype));
  if (options.ignore_index && options.ignore_index != CrossEntropyOptions().ignore_index)
    usage_error("ignore_index {} needs class targets, but the target is {}; leave it out", *options.ignore_index,
                describe(y));
  if (!(y->shape == x->shape))
    usage_error(
        "logits {} need probabilities of the same shape or integer classes, got {}; convert classes with to(int64)",
        describe(given), describe(y));
  UOp p = cast(y, x->dtype);
  if (const double share = options.label_smoothing; share > 0) p = p * (1 - share) + share / class_count(x, axis);
  if (UOp weights = class_weights(options.weight, x, axis)) p = p * weights;
  UOp loss = -reduce(Combine::Add, tensor::log_softmax(x, axis) * p, {axis});
  return finished_loss(loss, options.reduction, given->dtype);
}

Tensor multi_margin_loss(Arg x, const Tensor& target, MultiMarginOptions options) {
  Call call("multi_margin_loss", x.where());
  if (options.p != 1 && options.p != 2) usage_error("p is {}; give {} or 2", options.p, 1);
  UOp given = float_operand(x), y = node_of(target);
  unify_devices(given, y);
  if (given->rank() < 1 || given->rank() > 2)
    usage_error("{} has {} axes; give [n, classes] or [classes]", describe(given), given->rank());
  const auto axis = static_cast<int64_t>(given->rank()) - 1;
  UOp n = to_compute_type(given), index = class_index(given, n, axis, y);
  UOp own = drop_axes(gather(n, index, axis), {axis});
  UOp over = n - expand(own, n->shape, {axis}) + options.margin, zero = like(n, 0.0);
  over = where(lt(zero, over), options.p == 1 ? over : over * over, zero);
  UOp place = position(n->shape, axis, n->device);
  over = where(eq(place, expand(drop_axes(index, {axis}), n->shape, {axis})), zero, over);
  if (UOp weights = class_weights(options.weight, n, axis)) {
    UOp weight = drop_axes(gather(weights, index, axis), {axis});
    over = over * expand(weight, n->shape, {axis});
  }
  UOp loss = reduce(Combine::Add, over, {axis});
  return finished_loss(loss / broadcast_to(count_of(n, {axis}, n->dtype), loss->shape), options.reduction,
                       given->dtype);
}

Tensor multilabel_soft_margin_loss(Arg x, Arg target, MultilabelOptions options) {
  Call call("multilabel_soft_margin_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  if (!a->rank()) usage_error("{} has {} axes; give [n, classes]", describe(x), 0);
  UOp loss = -(b * log_sigmoid(a) + (1.0 - b) * log_sigmoid(-a));
  if (UOp weight = weight_operand(options.weight, a)) loss = loss * weight;
  const auto axis = static_cast<int64_t>(a->rank()) - 1;
  loss = reduce(Combine::Add, loss, {axis});
  return finished_loss(loss / broadcast_to(count_of(a, {axis}, a->dtype), loss->shape), options.reduction, t);
}

}  // namespace v0
}  // namespace sinter
