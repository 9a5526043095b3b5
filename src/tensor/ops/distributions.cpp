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
  std::vector<UOp> nodes{operand(a, common_float_type({&a, &b})), operand(b, common_float_type({&a, &b}))};
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
  const UOp n = node_of(x);
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

Normal::Normal(Arg mean, Arg deviation) {
  const OuterCall call("Normal", mean.where());
  if (!deviation.is_tensor() && !(deviation.real() > 0))
    usage_error("the deviation is {}; give a number above 0", deviation.real());
  const std::vector<Tensor> p = parameters(mean, deviation);
  mean_ = p[0];
  deviation_ = p[1];
}
Tensor Normal::rsample(const Shape& shape, RandomOptions options) const {
  return normal(mean_, deviation_, joined(shape, mean_.shape()), options);
}
Tensor Normal::sample(const Shape& shape, RandomOptions options) const {
  return normal(mean_.detach(), deviation_.detach(), joined(shape, mean_.shape()), options);
}
Tensor Normal::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  return -square((x - mean_) / deviation_) / 2.0 - log(deviation_) - kLogTwoPi / 2;
}
Tensor Normal::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return log(deviation_) + (1 + kLogTwoPi) / 2;
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
Tensor Bernoulli::probabilities(Loc where) const {
  const OuterCall call("probabilities", where);
  return probs_.defined() ? probs_ : sigmoid(logits_);
}
Tensor Bernoulli::sample(const Shape& shape, RandomOptions options) const {
  const Tensor p = probabilities().detach();
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
Tensor Categorical::probabilities(Loc where) const {
  const OuterCall call("probabilities", where);
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

void MultivariateNormal::set(const Tensor& mean, const Tensor& l) {
  const Dim n = mean.rank() ? mean.size(-1) : Dim(0);
  if (mean.rank() == 0 || l.rank() < 2 || !(l.size(-1) == n) || !(l.size(-2) == n))
    usage_error("the mean is {} and the matrix {}; give shapes [.., n] and [.., n, n]", describe(Arg(mean)),
                describe(Arg(l)));
  const Shape vectors = mean.shape(), matrices = l.shape();
  Shape batch = common_shape(Shape(std::vector<Dim>(vectors.begin(), vectors.end() - 1)),
                             Shape(std::vector<Dim>(matrices.begin(), matrices.end() - 2)));
  batch.push_back(n);
  mean_ = mean.expand(batch);
  batch.push_back(n);
  l_ = l.expand(batch);
}
MultivariateNormal::MultivariateNormal(Arg mean, Arg covariance) {
  const OuterCall call("MultivariateNormal", mean.where());
  set(tensor_of(mean), cholesky(covariance));
}
MultivariateNormal MultivariateNormal::of_factor(Arg mean, Arg l) {
  const OuterCall call("MultivariateNormal", mean.where());
  MultivariateNormal made;
  made.set(tensor_of(mean), tensor_of(l));
  return made;
}
Tensor MultivariateNormal::rsample(const Shape& shape, RandomOptions options) const {
  options.dtype = type_or(options.dtype, l_.dtype());
  options.device = l_.device();
  const Tensor e = randn(joined(shape, mean_.shape()), options);
  return mean_ + matmul(l_, e.unsqueeze(-1)).squeeze({-1});
}
Tensor MultivariateNormal::sample(const Shape& shape, RandomOptions options) const {
  return of_factor(mean_.detach(), l_.detach()).rsample(shape, options);
}
Tensor MultivariateNormal::log_prob(Arg x) const {
  const OuterCall call("log_prob", x.where());
  const Tensor off = (x - mean_).unsqueeze(-1);
  const Tensor scaled = solve_triangular(l_, off, false);
  return -(square(scaled).sum({-2, -1}) + static_cast<double>(mean_.size(-1).value()) * kLogTwoPi) / 2.0 -
         log_determinant(l_);
}
Tensor MultivariateNormal::entropy(Loc where) const {
  const OuterCall call("entropy", where);
  return log_determinant(l_) + static_cast<double>(mean_.size(-1).value()) * (1 + kLogTwoPi) / 2;
}
Tensor MultivariateNormal::covariance(Loc where) const {
  const OuterCall call("covariance", where);
  return matmul(l_, l_.transpose(-1, -2));
}

Tensor kl_divergence(const Normal& p, const Normal& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor ratio = square(p.deviation() / q.deviation()), distance = square((p.mean() - q.mean()) / q.deviation());
  return (ratio + distance - 1.0 - log(ratio)) / 2.0;
}
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  return -p.entropy() - q.log_prob(p.probabilities());
}
Tensor kl_divergence(const Categorical& p, const Categorical& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor weights = p.probabilities();
  return (weights * sinter::where(weights > 0.0, p.logits() - q.logits(), 0.0)).sum(-1);
}

Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q, Loc where) {
  const OuterCall call("kl_divergence", where);
  const Tensor scales = square(solve_triangular(q.factor(), p.factor(), false)).sum({-2, -1});
  const Tensor off = square(solve_triangular(q.factor(), (q.mean() - p.mean()).unsqueeze(-1), false)).sum({-2, -1});
  return (scales + off - static_cast<double>(p.mean().size(-1).value())) / 2.0 + log_determinant(q.factor()) -
         log_determinant(p.factor());
}

}  // namespace sinter::inline v0::distributions
