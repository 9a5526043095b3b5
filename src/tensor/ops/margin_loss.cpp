// Losses of two answers, and of distances between vectors.
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/loss.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The last axis of x. UsageError if it has none.
int64_t vector_axis(UOp x) {
  if (!x->rank()) usage_error("{} is no vector: it has {} axes; give [n, size]", describe(x), 0);
  return static_cast<int64_t>(x->rank()) - 1;
}

UOp sum_of_products(UOp a, UOp b, int64_t axis) { return reduce(Combine::Add, a * b, {axis}); }

}  // namespace

Tensor soft_margin_loss(Arg x, Arg target, LossOptions options) {
  Call call("soft_margin_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  return finished_loss(tensor::softplus(-(a * b)), options.reduction, t);
}

Tensor hinge_embedding_loss(Arg x, Arg target, HingeEmbeddingOptions options) {
  Call call("hinge_embedding_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  UOp zero = like(a, 0.0), near = eq(b, like(b, 1.0)), far = eq(b, like(b, -1.0));
  UOp loss = where(near, zero, at_least_zero(options.margin - a)) + where(far, zero, a);
  return finished_loss(loss, options.reduction, t);
}

Tensor margin_ranking_loss(Arg x1, Arg x2, Arg target, MarginOptions options) {
  Call call("margin_ranking_loss", x1.where());
  auto [a, b, y, t] = three_operands(x1, x2, target);
  require_equal_shapes({a, b, y}, {"first prediction", "second", "target"});
  return finished_loss(at_least_zero(-y * (a - b) + options.margin), options.reduction, t);
}

Tensor cosine_embedding_loss(Arg x1, Arg x2, Arg target, MarginOptions options) {
  Call call("cosine_embedding_loss", x1.where());
  auto [a, b, y, t] = three_operands(x1, x2, target);
  require_equal_shapes({a, b}, {"first prediction", "second"});
  const int64_t axis = vector_axis(a);
  UOp product = sum_of_products(a, b, axis);
  require_equal_shapes({product, y}, {"angle between predictions", "target"});
  constexpr double kLeast = 1e-12;  // PyTorch's, added to the squares
  UOp cosine = product / sqrt((sum_of_products(a, a, axis) + kLeast) * (sum_of_products(b, b, axis) + kLeast));
  UOp zero = like(y, 0.0), near = eq(y, like(y, 1.0)), far = eq(y, like(y, -1.0));
  UOp loss = where(near, 1.0 - cosine, where(far, at_least_zero(cosine - options.margin), zero));
  return finished_loss(loss, options.reduction, t);
}

Tensor triplet_margin_loss(Arg anchor, Arg positive, Arg negative, TripletMarginOptions options) {
  Call call("triplet_margin_loss", anchor.where());
  if (!(options.p > 0)) usage_error("p is {}, and a norm needs one above {}", options.p, 0);
  auto [a, near, far, t] = three_operands(anchor, positive, negative);
  require_equal_shapes({a, near, far}, {"anchor", "positive", "negative"});
  const int64_t axis = vector_axis(a);
  const auto distance = [&](UOp x, UOp y) { return norm_over(x - y + options.eps, options.p, {axis}); };
  UOp to_far = distance(a, far);
  if (options.swap) to_far = minimum(to_far, distance(near, far));
  return finished_loss(at_least_zero(distance(a, near) - to_far + options.margin), options.reduction, t);
}

}  // namespace sinter::inline v0
