// Rules with Adam's two running means, or with one of them: NAdam, RAdam, Lion, LAMB, Muon.
#include <algorithm>
#include <cmath>
#include <optional>

#include "nn/optim_terms.h"
#include "sinter/nn/optim_rules.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

void NAdamOptions::check(Loc where) const {
  check_settings("NAdam", {{"eps", eps}, {"weight_decay", weight_decay}, {"momentum_decay", momentum_decay}}, where);
  check_shares("NAdam", {{"beta1", beta1}, {"beta2", beta2}}, where);
}

namespace {

double share_of_momentum(const NAdamOptions& o, int64_t t) {
  return o.beta1 * (1.0 - 0.5 * std::pow(0.96, static_cast<double>(t) * o.momentum_decay));
}

}  // namespace

/// The product of the shares of the updates 1 to t. Those of earlier updates are not computed again.
double NAdam::product_of_shares(size_t group, const Options& o, int64_t t) {
  if (products_.size() <= group) products_.resize(group + 1);
  Product& last = products_[group];
  if (last.t > t || last.beta1 != o.beta1 || last.momentum_decay != o.momentum_decay)
    last = {o.beta1, o.momentum_decay};
  while (last.t < t) last.value *= share_of_momentum(o, ++last.t);
  return last.value;
}

Tensor NAdam::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const auto product = [this, &o, group = update.group()](int64_t t) { return product_of_shares(group, o, t); };
  const Tensor g = descent(update.gradient(), p, o.maximize, o.decoupled_weight_decay ? 0.0 : o.weight_decay);
  const Tensor m = update.set(first_, running(update.state(first_), g, o.beta1));
  const Tensor v = update.set(second_, running(update.state(second_), g * g, o.beta2));
  const Tensor unbias = update.number([&o](int64_t t) { return unbiased(o.beta2, t); });
  const Tensor of_gradient =
      update.number([&o, product](int64_t t) { return o.lr * (1.0 - share_of_momentum(o, t)) / (1.0 - product(t)); });
  const Tensor of_mean = update.number([&o, product](int64_t t) {
    const double next = share_of_momentum(o, t + 1);
    return o.lr * next / (1.0 - product(t) * next);
  });
  const Tensor d = (g * of_gradient + m * of_mean) / (sqrt(v * unbias) + o.eps);
  const bool decays = o.decoupled_weight_decay && o.weight_decay != 0;
  return (decays ? p - p * (update.rate() * o.weight_decay) : p) - d;
}

void RAdamOptions::check(Loc where) const {
  check_settings("RAdam", {{"eps", eps}, {"weight_decay", weight_decay}}, where);
  check_shares("RAdam", {{"beta1", beta1}, {"beta2", beta2}}, where);
}

namespace {

/// The factor of a step that divides by sqrt(v); none while v stands for few values.
std::optional<double> rectification(const RAdamOptions& o, int64_t step) {
  const double t = static_cast<double>(step), power = std::pow(o.beta2, t);
  // How many values the running mean v stands for: at the end, and now.
  const double whole = 2.0 / (1.0 - o.beta2) - 1.0, now = whole - 2.0 * t * power / (1.0 - power);
  if (!(now > 5.0)) return {};
  return std::sqrt((now - 4.0) * (now - 2.0) * whole / ((whole - 4.0) * (whole - 2.0) * now) * (1.0 - power));
}

}  // namespace

Tensor RAdam::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, o.decoupled_weight_decay ? 0.0 : o.weight_decay);
  const Tensor m = update.set(first_, running(update.state(first_), g, o.beta1));
  const Tensor v = update.set(second_, running(update.state(second_), g * g, o.beta2));
  // Both forms of the step are one program.
  const Tensor rate = update.number([&o](int64_t t) {
    return o.lr / (1.0 - std::pow(o.beta1, static_cast<double>(t))) * rectification(o, t).value_or(1.0);
  });
  const Tensor divides = update.number([&o](int64_t t) { return rectification(o, t) ? 1.0 : 0.0; });
  const Tensor divisor = where(divides != 0.0, sqrt(v) + o.eps, 1.0);
  const bool decays = o.decoupled_weight_decay && o.weight_decay != 0;
  return (decays ? p - p * (update.rate() * o.weight_decay) : p) - m / divisor * rate;
}

void LionOptions::check(Loc where) const {
  check_settings("Lion", {{"weight_decay", weight_decay}}, where);
  check_shares("Lion", {{"beta1", beta1}, {"beta2", beta2}}, where);
}

Tensor Lion::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, 0);
  const Tensor m = update.state(mean_);
  Tensor d = sign(running(m, g, o.beta1));
  if (o.weight_decay != 0) d = d + p * o.weight_decay;
  update.set(mean_, running(m, g, o.beta2));
  return p - d * update.rate();
}

void LAMBOptions::check(Loc where) const {
  check_settings("LAMB", {{"eps", eps}, {"weight_decay", weight_decay}}, where);
  check_shares("LAMB", {{"beta1", beta1}, {"beta2", beta2}}, where);
}

Tensor LAMB::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor unbias_m = update.number([&o](int64_t t) { return unbiased(o.beta1, t); });
  const Tensor unbias_v = update.number([&o](int64_t t) { return unbiased(o.beta2, t); });
  const Tensor g = descent(update.gradient(), p, o.maximize, 0);
  const Tensor m = update.set(first_, running(update.state(first_), g, o.beta1));
  const Tensor v = update.set(second_, running(update.state(second_), g * g, o.beta2));
  Tensor d = m * unbias_m / (sqrt(v * unbias_v) + o.eps);
  if (o.weight_decay != 0) d = d + p * o.weight_decay;
  // In 16 bits the sum of squares is beyond the type's range soon.
  const DType wide = promote(p.dtype(), float32);
  const Tensor size = sqrt(square(p.to(wide)).sum()), length = sqrt(square(d.to(wide)).sum());
  const Tensor trust = where(minimum(size, length) > 0.0, size / length, 1.0);
  return p - d * (trust.to(p.dtype()) * update.rate());
}

Muon::Muon(std::vector<Tensor> parameters, Options options, Loc where)
    : Muon({{std::move(parameters), options}}, where) {}

Muon::Muon(const std::vector<ParamGroup<Options>>& groups, Loc where) : UpdateRule(groups, where) {
  check_parameters(parameters(), "Muon", where);
}

void Muon::check_parameter(const Tensor& p, const std::string& which, Loc where) const {
  if (p.rank() != 2)
    usage_error_at(where, "{} has shape {}, and Muon needs two axes; give it to another optimizer, such as AdamW",
                   which, to_string(p.shape()));
}

void MuonOptions::check(Loc where) const {
  check_settings("Muon", {{"weight_decay", weight_decay}, {"eps", eps}}, where);
  check_shares("Muon", {{"momentum", momentum}}, where);
  if (ns_steps < 1 || ns_steps > 99)
    usage_error_at(where, "Muon: ns_steps is {}; give a number of iterations from 1 to 99", ns_steps);
  if (!is_float(ns_dtype)) usage_error_at(where, "Muon: ns_dtype is {}; give a type of floats", name_of(ns_dtype));
}

namespace {

/// About the nearest orthogonal matrix: singular values between about 0.5 and 1.5.
Tensor orthogonal(const Tensor& g, const MuonOptions& o) {
  const bool tall = g.shape()[0].value() > g.shape()[1].value();
  Tensor x = (tall ? g.transpose() : g).to(o.ns_dtype);
  // The sum of squares in float32, as a norm's.
  const Tensor norm = sqrt(square(x.to(promote(o.ns_dtype, float32))).sum()).to(o.ns_dtype);
  x = x / maximum(norm, o.eps);
  for (int i = 0; i < o.ns_steps; ++i) {
    const Tensor gram = matmul(x, x.transpose());
    x = x * o.a + matmul(gram * o.b + matmul(gram, gram) * o.c, x);
  }
  return tall ? x.transpose() : x;
}

double adjustment(const Shape& shape, MuonOptions::AdjustLr how) {
  const double a = static_cast<double>(shape[0].value()), b = static_cast<double>(shape[1].value());
  if (a == 0 || b == 0) return 1;
  switch (how) {
    case MuonOptions::AdjustLr::Original: return std::sqrt(std::max(1.0, a / b));
    case MuonOptions::AdjustLr::MatchRmsAdamW: return 0.2 * std::sqrt(std::max(a, b));
    case MuonOptions::AdjustLr::SpectralUnclamped: return std::sqrt(a / b);
  }
  return 1;
}

}  // namespace

Tensor Muon::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = update.gradient();
  const Tensor m = update.set(momentum_, running(update.state(momentum_), g, o.momentum));
  const Tensor x = orthogonal(o.nesterov ? running(g, m, 1.0 - o.momentum) : m, o).to(p.dtype());
  const Tensor rate = update.rate();
  const Tensor kept = o.weight_decay != 0 ? p - p * (rate * o.weight_decay) : p;
  return kept - x * (rate * adjustment(p.shape(), o.adjust_lr));
}

}  // namespace sinter::inline v0::optim
