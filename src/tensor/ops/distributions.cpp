// Formulas of distributions, of public functions.
#include "sinter/distributions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ir/axis_lists.h"
#include "sinter/activations.h"
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/indexing.h"
#include "sinter/linalg.h"
#include "sinter/movement.h"
#include "sinter/normalization.h"
#include "sinter/products.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0::distributions {
namespace {

using namespace tensor;

const double kLogTwoPi = std::log(2 * std::numbers::pi);

/// Both parameters in one float type and one shape.
std::vector<Tensor> parameters(const Arg& a, const Arg& b) {
  const Call call("parameters", a.where());
  std::vector<ir::UOp> nodes{operand(a, common_float_type({&a, &b})), operand(b, common_float_type({&a, &b}))};
  tensor::broadcast(nodes);
  return {wrap(nodes[0]), wrap(nodes[1])};
}

Shape joined(const Shape& lead, const Shape& shape) {
  Shape all = lead;
  for (const Dim& d : shape) all.push_back(d);
  return all;
}

/// UsageError unless it is a tensor of floats with at least `rank` axes.
void require_floats(const Tensor& x, int64_t rank) {
  const Call call("logits", Loc::current());
  const ir::UOp n = node_of(x);
  if (!is_float(n->dtype)) usage_error("needs floats, got {}; convert them with to(float32)", describe(n));
  if (static_cast<int64_t>(n->rank()) < rank)
    usage_error("{} has no axis of classes; give the shape [.., classes]", describe(n));
}

const Tensor& the_given(const Odds& odds) {
  const bool logits = odds.logits.defined();
  if (logits == odds.probs.defined())
    usage_error("{} logits and probs; give one of them: {{.logits = x}} or {{.probs = x}}",
                logits ? "has both" : "has neither");
  return logits ? odds.logits : odds.probs;
}

/// Numbers become tensors.
Tensor tensor_of(const Arg& a) {
  const Call call("parameters", a.where());
  return wrap(float_operand(a));
}

/// Of triangles with a positive diagonal.
Tensor log_determinant(const Tensor& l) { return log(diagonal(l, 0, -2, -1)).sum({-1}); }

}  // namespace

Normal::Normal(Arg loc, Arg scale) {
  const OuterCall call("Normal", loc.where());
  if (!scale.is_tensor() && !(scale.real() > 0)) usage_error("the scale is {}; give a number above 0", scale.real());
  const std::vector<Tensor> p = parameters(loc, scale);
  loc_ = p[0];
  scale_ = p[1];
}
Tensor Normal::rsample(const Shape& shape, RandomOptions options) const {
  return normal(loc_, scale_, joined(shape, loc_.shape()), options);
}
Tensor Normal::sample(const Shape& shape, RandomOptions options) const {
  return normal(loc_.detach(), scale_.detach(), joined(shape, loc_.shape()), options);
}
Tensor Normal::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  return -square((x - loc_) / scale_) / 2.0 - log(scale_) - kLogTwoPi / 2;
}
Tensor Normal::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return log(scale_) + (1 + kLogTwoPi) / 2;
}
Tensor Normal::variance(Loc where) const {
  const OuterCall call("variance", where);
  return square(scale_);
}

Uniform::Uniform(Arg low, Arg high) {
  const OuterCall call("Uniform", low.where());
  if (!low.is_tensor() && !high.is_tensor() && !(low.real() < high.real()))
    usage_error("no number lies in [{}, {}); give low < high", low.real(), high.real());
  const std::vector<Tensor> p = parameters(low, high);
  low_ = p[0];
  high_ = p[1];
}
Tensor Uniform::rsample(const Shape& shape, RandomOptions options) const {
  return uniform(low_, high_, joined(shape, low_.shape()), options);
}
Tensor Uniform::sample(const Shape& shape, RandomOptions options) const {
  return uniform(low_.detach(), high_.detach(), joined(shape, low_.shape()), options);
}
Tensor Uniform::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  return where((x >= low_) & (x < high_), -log(high_ - low_), -std::numeric_limits<double>::infinity());
}
Tensor Uniform::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return log(high_ - low_);
}

Tensor Uniform::mean(Loc where) const {
  const OuterCall call("mean", where);
  return (low_ + high_) / 2.0;
}
Tensor Uniform::variance(Loc where) const {
  const OuterCall call("variance", where);
  return square(high_ - low_) / 12.0;
}
Tensor Uniform::stddev(Loc where) const {
  const OuterCall call("stddev", where);
  return (high_ - low_) / std::sqrt(12.0);
}

Bernoulli::Bernoulli(const Odds& odds, Loc where) {
  const OuterCall call("Bernoulli", where);
  const Tensor& given = the_given(odds);
  require_floats(given, 0);
  logits_ = given;
  if (odds.logits.defined()) return;
  probs_ = given;
  const double epsilon = epsilon_of(given.dtype());
  const Tensor p = sinter::where((given >= 0) & (given <= 1), clamp(given, epsilon, 1 - epsilon),
                                 std::numeric_limits<double>::quiet_NaN());
  logits_ = log(p) - log1p(-p);
}
Tensor Bernoulli::probs(Loc where) const {
  const OuterCall call("probs", where);
  return probs_.defined() ? probs_ : sigmoid(logits_);
}
Tensor Bernoulli::mean(Loc where) const { return probs(where); }
Tensor Bernoulli::variance(Loc where) const {
  const OuterCall call("variance", where);
  const Tensor p = probs();
  return p * (1.0 - p);
}
Tensor Bernoulli::stddev(Loc where) const {
  const OuterCall call("stddev", where);
  return sqrt(variance());
}
Tensor Bernoulli::sample(const Shape& shape, RandomOptions options) const {
  const Tensor p = probs().detach();
  const DType dtype = options.dtype == DType::Void ? logits_.dtype() : options.dtype;
  options.dtype = DType::Void;
  return bernoulli(p.expand(joined(shape, p.shape())), options).to(dtype);
}
Tensor Bernoulli::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  // log(1 + e^l) = max(l, 0) + log1p(e^-|l|)
  return x * logits_ - relu(logits_) - log1p(exp(-abs(logits_)));
}
Tensor Bernoulli::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return relu(logits_) + log1p(exp(-abs(logits_))) - sigmoid(logits_) * logits_;
}

Categorical::Categorical(const Odds& odds, Loc where) {
  const OuterCall call("Categorical", where);
  const Tensor& given = the_given(odds);
  require_floats(given, 1);
  logits_ = log_softmax(odds.logits.defined() ? given : log(given), -1);
}
Tensor Categorical::probs(Loc where) const {
  const OuterCall call("probs", where);
  return exp(logits_);
}
Tensor Categorical::sample(const Shape& shape, RandomOptions options) const {
  options.dtype = DType::Void;
  return categorical(logits_.expand(joined(shape, logits_.shape())), options);
}
Tensor Categorical::log_prob(const Tensor& classes, Loc where) const {
  const OuterCall call("log_prob", where);
  const Shape shape = logits_.shape();
  const Shape all = common_shape(ir::without(shape, {logits_.rank() - 1}), classes.shape());
  return gather(logits_.expand(joined(all, {shape[shape.rank() - 1]})), -1, classes.expand(all).unsqueeze(-1))
      .squeeze(-1);
}
Tensor Categorical::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  const Tensor p = exp(logits_);
  return -(p * sinter::where(p > 0.0, logits_, 0.0)).sum(-1);  // the gradient of 0 * -inf would be NaN
}

void MultivariateNormal::set(const Tensor& loc, const Tensor& l) {
  const Dim n = loc.rank() ? loc.size(-1) : Dim(0);
  if (loc.rank() == 0 || l.rank() < 2 || !(l.size(-1) == n) || !(l.size(-2) == n))
    usage_error("loc is {} and the matrix {}; give shapes [.., n] and [.., n, n]", describe(Arg(loc)),
                describe(Arg(l)));
  const Shape vectors = loc.shape(), matrices = l.shape();
  Shape batch = common_shape(Shape(std::vector<Dim>(vectors.begin(), vectors.end() - 1)),
                             Shape(std::vector<Dim>(matrices.begin(), matrices.end() - 2)));
  batch.push_back(n);
  loc_ = loc.expand(batch);
  batch.push_back(n);
  l_ = l.expand(batch);
}
MultivariateNormal::MultivariateNormal(Arg loc, Arg covariance) {
  const OuterCall call("MultivariateNormal", loc.where());
  set(tensor_of(loc), cholesky(covariance));
}
MultivariateNormal::MultivariateNormal(Arg loc, const Spread& spread) {
  const OuterCall call("MultivariateNormal", loc.where());
  const Tensor &covariance = spread.covariance_matrix, &precision = spread.precision_matrix, &l = spread.scale_tril;
  if (const int given = covariance.defined() + precision.defined() + l.defined(); given != 1)
    usage_error("has {} of covariance_matrix, precision_matrix and scale_tril; give one: {{.scale_tril = l}}", given);
  set(tensor_of(loc), l.defined() ? tensor_of(l) : cholesky(covariance.defined() ? covariance : inverse(precision)));
}
Tensor MultivariateNormal::rsample(const Shape& shape, RandomOptions options) const {
  options.dtype = type_or(options.dtype, l_.dtype());
  options.device = l_.device();
  const Tensor e = randn(joined(shape, loc_.shape()), options);
  return loc_ + matmul(l_, e.unsqueeze(-1)).squeeze({-1});
}
Tensor MultivariateNormal::sample(const Shape& shape, RandomOptions options) const {
  return MultivariateNormal(loc_.detach(), {.scale_tril = l_.detach()}).rsample(shape, options);
}
Tensor MultivariateNormal::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  const Tensor off = (x - loc_).unsqueeze(-1);
  const Tensor scaled = solve_triangular(l_, off, false);
  return -(square(scaled).sum({-2, -1}) + static_cast<double>(loc_.size(-1).value()) * kLogTwoPi) / 2.0 -
         log_determinant(l_);
}
Tensor MultivariateNormal::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return log_determinant(l_) + static_cast<double>(loc_.size(-1).value()) * (1 + kLogTwoPi) / 2;
}
Tensor MultivariateNormal::covariance_matrix(Loc where) const {
  const OuterCall call("covariance_matrix", where);
  return matmul(l_, l_.transpose(-1, -2));
}
Tensor MultivariateNormal::precision_matrix(Loc where) const {
  const OuterCall call("precision_matrix", where);
  return inverse(covariance_matrix());
}
Tensor MultivariateNormal::variance(Loc where) const {
  const OuterCall call("variance", where);
  return square(l_).sum(-1);
}
Tensor MultivariateNormal::stddev(Loc where) const {
  const OuterCall call("stddev", where);
  return sqrt(variance());
}

Tensor kl_divergence(const Normal& p, const Normal& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor ratio = square(p.scale() / q.scale()), distance = square((p.loc() - q.loc()) / q.scale());
  return (ratio + distance - 1.0 - log(ratio)) / 2.0;
}
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  return -p.entropy() - q.log_prob(p.probs());
}
Tensor kl_divergence(const Categorical& p, const Categorical& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor weights = p.probs();
  return (weights * sinter::where(weights > 0.0, p.logits() - q.logits(), 0.0)).sum(-1);
}

Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor scales = square(solve_triangular(q.scale_tril(), p.scale_tril(), false)).sum({-2, -1});
  const Tensor off = square(solve_triangular(q.scale_tril(), (q.loc() - p.loc()).unsqueeze(-1), false)).sum({-2, -1});
  return (scales + off - static_cast<double>(p.loc().size(-1).value())) / 2.0 + log_determinant(q.scale_tril()) -
         log_determinant(p.scale_tril());
}

}  // namespace sinter::inline v0::distributions
