// Losses of numbers and of probabilities, element by element.
#include <cmath>
#include <numbers>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/loss.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

UOp magnitude(UOp x) { return alu(Op::Abs, {x}); }

/// x log x, 0 at 0.
UOp times_own_log(UOp x) {
  UOp zero = eq(x, like(x, 0.0));
  return where(zero, like(x, 0.0), x * log(where(zero, like(x, 1.0), x)));
}

/// PyTorch's slope by x is (x - t) / max(x (1 - x), 1e-12). Where the bound holds, x is taken as fixed, and a parabola
/// that adds 0 to the value has the slope; elsewhere the logarithms have it.
UOp binary_loss(UOp x, UOp t) {
  const auto logarithms = [&](UOp p) {
    return -(t * at_least(log(p), -100.0) + (1.0 - t) * at_least(alu(Op::Log1p, {-p}), -100.0));
  };
  constexpr double kLeast = 1e-12;
  UOp edge = lt(x * (1.0 - x), like(x, kLeast)), half = like(x, 0.5), fixed = detach(x);
  UOp parabola = (x * x * 0.5 - detach(t) * x) / kLeast;
  UOp there = logarithms(fixed) + (parabola - detach(parabola));
  return where(edge, there, logarithms(where(edge, half, x)));
}

}  // namespace

Tensor mse_loss(Arg x, Arg target, LossOptions options) {
  Call call("mse_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  UOp off = a - b;
  return finished_loss(off * off, options.reduction, t);
}

Tensor l1_loss(Arg x, Arg target, LossOptions options) {
  Call call("l1_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  return finished_loss(magnitude(a - b), options.reduction, t);
}

Tensor smooth_l1_loss(Arg x, Arg target, SmoothL1Options options) {
  Call call("smooth_l1_loss", x.where());
  const double beta = options.beta;
  if (!(beta >= 0)) usage_error("beta is {}, which is not at least {}; give a distance", beta, 0);
  auto [a, b, t] = loss_operands(x, target);
  UOp off = a - b, size = magnitude(off);
  if (beta == 0) return finished_loss(size, options.reduction, t);
  UOp loss = where(lt(size, like(size, beta)), off * off * (0.5 / beta), size - 0.5 * beta);
  return finished_loss(loss, options.reduction, t);
}

Tensor huber_loss(Arg x, Arg target, HuberOptions options) {
  Call call("huber_loss", x.where());
  const double delta = options.delta;
  if (!(delta > 0)) usage_error("delta is {}, which is not above {}; give a distance", delta, 0);
  auto [a, b, t] = loss_operands(x, target);
  UOp off = a - b, size = magnitude(off);
  UOp loss = where(le(size, like(size, delta)), off * off * 0.5, (size - 0.5 * delta) * delta);
  return finished_loss(loss, options.reduction, t);
}

Tensor poisson_nll_loss(Arg x, Arg target, PoissonNllOptions options) {
  Call call("poisson_nll_loss", x.where());
  auto [a, b, t] = loss_operands(x, target);
  UOp loss = options.log_input ? exp(a) - b * a : a - b * log(a + options.eps);
  if (options.full) {
    UOp one = like(b, 1.0), many = lt(one, b), count = where(many, b, one);
    UOp stirling = count * log(count) - count + log(count * (2 * std::numbers::pi)) * 0.5;
    loss = loss + where(many, stirling, like(b, 0.0));
  }
  return finished_loss(loss, options.reduction, t);
}

Tensor gaussian_nll_loss(Arg x, Arg target, Arg variance, GaussianNllOptions options) {
  Call call("gaussian_nll_loss", x.where());
  if (!(options.eps > 0)) usage_error("eps is {}, which is not above {}; give the least variance", options.eps, 0);
  auto [a, b, v, t] = three_operands(x, target, variance);
  require_equal_shapes({a, b}, {"prediction", "target"});
  Shape without_last, last_is_one = a->shape;
  for (size_t i = 0; i + 1 < a->rank(); ++i) without_last.push_back(a->shape[i]);
  if (a->rank()) last_is_one[a->rank() - 1] = 1;
  if (v->rank() && v->rank() + 1 == a->rank() && v->shape == without_last)
    v = insert_axis(v, static_cast<int64_t>(v->rank()));
  if (v->rank() && !(v->shape == a->shape || v->shape == last_is_one))
    usage_error("the variance is {}, the prediction {}; give one for each element or for each row", to_string(v->shape),
                to_string(a->shape));
  v = broadcast_to(v, a->shape);
  UOp least = like(v, options.eps);
  v = detach(where(lt(v, least), least, v)) + (v - detach(v));  // the bound keeps the slope
  UOp off = a - b, loss = (log(v) + off * off / v) * 0.5;
  if (options.full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return finished_loss(loss, options.reduction, t);
}

Tensor binary_cross_entropy(Arg x, Arg target, BinaryCrossEntropyOptions options) {
  Call call("binary_cross_entropy", x.where());
  if (options.pos_weight.defined())
    usage_error("pos_weight {} needs logits; call {}, or scale by weight", describe(node_of(options.pos_weight)),
                "binary_cross_entropy_with_logits");
  auto [a, b, t] = loss_operands(x, target);
  UOp loss = binary_loss(a, b);
  if (UOp weight = weight_operand(options.weight, a)) loss = loss * weight;
  return finished_loss(loss, options.reduction, t);
}

Tensor binary_cross_entropy_with_logits(Arg x, Arg target, BinaryCrossEntropyOptions options) {
  Call call("binary_cross_entropy_with_logits", x.where());
  auto [a, b, t] = loss_operands(x, target);
  UOp loss, zero = like(a, 0.0), rest = softplus_rest(a), positive = le(zero, a);
  if (UOp weight = weight_operand(options.pos_weight, a, "pos_weight")) {
    loss = (1.0 - b) * a + ((weight - 1.0) * b + 1.0) * (rest + where(positive, zero, -a));
  } else {
    // max(a, 0) - a b is exact where the prediction is confident and right, so adding the small rest does not lose it.
    loss = (where(positive, a, zero) - a * b) + rest;
  }
  if (UOp weight = weight_operand(options.weight, a)) loss = loss * weight;
  return finished_loss(loss, options.reduction, t);
}

Tensor kl_div(Arg x, Arg target, KlDivOptions options) {
  Call call("kl_div", x.where());
  auto [a, b, t] = loss_operands(x, target);
  if (options.batchmean && !a->rank())
    usage_error("batchmean is a mean over the first axis, and {} has 0 axes; leave batchmean out", describe(a));
  if (options.batchmean && options.reduction != Reduction::Mean)
    usage_error("batchmean is a mean, and the reduction of {} is Reduction::{}; leave one of them out", describe(a),
                options.reduction == Reduction::Sum ? "Sum" : "None");
  UOp loss = options.log_target ? exp(b) * (b - a) : times_own_log(b) - b * a;
  if (!options.batchmean) return finished_loss(loss, options.reduction, t);
  return wrap(cast(total_of(loss) / count_of(loss, {0}, loss->dtype), t));
}

}  // namespace sinter::inline v0
