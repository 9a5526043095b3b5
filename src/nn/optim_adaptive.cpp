// Rules that divide by what gradients were: RMSprop, Adagrad, Adadelta, Adamax.
#include <cmath>

#include "nn/optim_terms.h"
#include "sinter/nn/optim_rules.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

void RMSpropOptions::check(Loc where) const {
  check_settings("RMSprop", {{"eps", eps}, {"weight_decay", weight_decay}, {"momentum", momentum}}, where);
  check_shares("RMSprop", {{"alpha", alpha}}, where);
}

Tensor RMSprop::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  Tensor v = update.set(square_, running(update.state(square_), g * g, o.alpha));
  if (o.centered) {
    ensure_state(mean_, "grad_avg");
    const Tensor mean = update.set(mean_, running(update.state(mean_), g, o.alpha));
    v = v - mean * mean;
  }
  Tensor d = g / (sqrt(v) + o.eps);
  if (o.momentum != 0) {
    ensure_state(momentum_, "momentum_buffer");
    d = update.set(momentum_, update.state(momentum_) * o.momentum + d);
  }
  return p - d * update.rate();
}

void AdagradOptions::check(Loc where) const {
  check_settings("Adagrad",
                 {{"lr_decay", lr_decay},
                  {"weight_decay", weight_decay},
                  {"initial_accumulator_value", initial_accumulator_value},
                  {"eps", eps}},
                 where);
}

Tensor Adagrad::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor sum = update.set(sum_, update.state(sum_) + g * g);
  const Tensor d = g / (sqrt(sum) + o.eps);
  if (o.lr_decay == 0) return p - d * update.rate();
  return p - d * update.number([&o](int64_t t) { return o.lr / (1.0 + static_cast<double>(t - 1) * o.lr_decay); });
}

void AdadeltaOptions::check(Loc where) const {
  check_settings("Adadelta", {{"eps", eps}, {"weight_decay", weight_decay}}, where);
  check_shares("Adadelta", {{"rho", rho}}, where);
}

Tensor Adadelta::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor v = update.set(square_, running(update.state(square_), g * g, o.rho));
  const Tensor u = update.state(delta_);
  const Tensor d = sqrt(u + o.eps) / sqrt(v + o.eps) * g;
  update.set(delta_, running(u, d * d, o.rho));
  return p - d * update.rate();
}

void AdamaxOptions::check(Loc where) const {
  check_settings("Adamax", {{"eps", eps}, {"weight_decay", weight_decay}}, where);
  check_shares("Adamax", {{"beta1", beta1}, {"beta2", beta2}}, where);
}

Tensor Adamax::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor m = update.set(mean_, running(update.state(mean_), g, o.beta1));
  const Tensor u = update.set(largest_, maximum(update.state(largest_) * o.beta2, abs(g) + o.eps));
  return p -
         m / u * update.number([&o](int64_t t) { return o.lr / (1.0 - std::pow(o.beta1, static_cast<double>(t))); });
}

}  // namespace sinter::inline v0::optim
