// Rules that divide by what gradients were: RMSprop, Adagrad, Adadelta, Adamax.
#include <cmath>

#include "nn/optim_terms.h"
#include "sinter/nn/optim_rules.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace optim {

RMSprop::RMSprop(std::vector<Tensor> parameters, Options options, Loc where)
    : RMSprop({{std::move(parameters), options}}, where) {}

RMSprop::RMSprop(const std::vector<ParamGroup<Options>>& groups, Loc where)
    : GroupedOptimizer(groups, where, "RMSprop") {
  check_options(where);
  const tensor::OuterCall call("RMSprop", where);
  square_ = make_state("square_avg");
  each_options([&](const Options& o) {
    if (o.momentum != 0) ensure_state(momentum_, "momentum_buffer");
    if (o.centered) ensure_state(mean_, "grad_avg");
  });
}

void RMSprop::check_options(Loc where) const {
  each_options([&](const Options& o) {
    check_settings("RMSprop", {{"eps", o.eps}, {"weight_decay", o.weight_decay}, {"momentum", o.momentum}}, where);
    check_shares("RMSprop", {{"alpha", o.alpha}}, where);
  });
}

Tensor RMSprop::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Options& o = options(update);
  const Tensor& p = update.parameter();
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

Adagrad::Adagrad(std::vector<Tensor> parameters, Options options, Loc where)
    : Adagrad({{std::move(parameters), options}}, where) {}

Adagrad::Adagrad(const std::vector<ParamGroup<Options>>& groups, Loc where)
    : GroupedOptimizer(groups, where, "Adagrad") {
  check_options(where);
  const tensor::OuterCall call("Adagrad", where);
  sum_ = make_state("sum", options().initial_accumulator_value);
}

void Adagrad::check_options(Loc where) const {
  each_options([&](const Options& o) {
    check_settings("Adagrad",
                   {{"lr_decay", o.lr_decay},
                    {"weight_decay", o.weight_decay},
                    {"initial_accumulator_value", o.initial_accumulator_value},
                    {"eps", o.eps}},
                   where);
  });
}

Tensor Adagrad::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Options& o = options(update);
  const Tensor& p = update.parameter();
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor sum = update.set(sum_, update.state(sum_) + g * g);
  const Tensor d = g / (sqrt(sum) + o.eps);
  if (o.lr_decay == 0) return p - d * update.rate();
  return p - d * update.number([&o](int64_t t) { return o.lr / (1.0 + static_cast<double>(t - 1) * o.lr_decay); });
}

Adadelta::Adadelta(std::vector<Tensor> parameters, Options options, Loc where)
    : Adadelta({{std::move(parameters), options}}, where) {}

Adadelta::Adadelta(const std::vector<ParamGroup<Options>>& groups, Loc where)
    : GroupedOptimizer(groups, where, "Adadelta") {
  check_options(where);
  const tensor::OuterCall call("Adadelta", where);
  square_ = make_state("square_avg");
  delta_ = make_state("acc_delta");
}

void Adadelta::check_options(Loc where) const {
  each_options([&](const Options& o) {
    check_settings("Adadelta", {{"eps", o.eps}, {"weight_decay", o.weight_decay}}, where);
    check_shares("Adadelta", {{"rho", o.rho}}, where);
  });
}

Tensor Adadelta::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Options& o = options(update);
  const Tensor& p = update.parameter();
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor v = update.set(square_, running(update.state(square_), g * g, o.rho));
  const Tensor u = update.state(delta_);
  const Tensor d = sqrt(u + o.eps) / sqrt(v + o.eps) * g;
  update.set(delta_, running(u, d * d, o.rho));
  return p - d * update.rate();
}

Adamax::Adamax(std::vector<Tensor> parameters, Options options, Loc where)
    : Adamax({{std::move(parameters), options}}, where) {}

Adamax::Adamax(const std::vector<ParamGroup<Options>>& groups, Loc where) : GroupedOptimizer(groups, where, "Adamax") {
  check_options(where);
  const tensor::OuterCall call("Adamax", where);
  mean_ = make_state("exp_avg");
  largest_ = make_state("exp_inf");
}

void Adamax::check_options(Loc where) const {
  each_options([&](const Options& o) {
    check_settings("Adamax", {{"eps", o.eps}, {"weight_decay", o.weight_decay}}, where);
    check_shares("Adamax", {{"beta1", o.beta1}, {"beta2", o.beta2}}, where);
  });
}

Tensor Adamax::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Options& o = options(update);
  const Tensor& p = update.parameter();
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor m = update.set(mean_, running(update.state(mean_), g, o.beta1));
  const Tensor u = update.set(largest_, maximum(update.state(largest_) * o.beta2, abs(g) + o.eps));
  return p -
         m / u * update.number([&o](int64_t t) { return o.lr / (1.0 - std::pow(o.beta1, static_cast<double>(t))); });
}

}  // namespace optim
}  // namespace v0
}  // namespace sinter
