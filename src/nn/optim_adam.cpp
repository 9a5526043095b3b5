// The rules of include/sinter/nn/optim.h: SGD, Adam, AdamW.

#include "nn/optim_terms.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

void SGDOptions::check(Loc where) const {
  check_settings("SGD", {{"momentum", momentum}, {"dampening", dampening}, {"weight_decay", weight_decay}}, where);
  if (nesterov && (momentum <= 0 || dampening != 0))
    usage_error_at(where, "SGD: nesterov needs momentum above 0 (is {}) and dampening 0 (is {})", momentum, dampening);
}

Tensor SGD::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  Tensor d = descent(update.gradient(), p, o.maximize, o.weight_decay);
  if (o.momentum != 0) {
    ensure_state(velocity_, "momentum_buffer");
    const auto gain = [&o, first = update.first_set(velocity_)](int64_t t) {
      return t == first ? 1.0 : 1.0 - o.dampening;
    };
    const Tensor damped = o.dampening != 0 ? d * update.number(gain) : d;
    const Tensor v = update.set(velocity_, update.state(velocity_) * o.momentum + damped);
    d = o.nesterov ? d + v * o.momentum : v;
  }
  return p - d * update.rate();
}

namespace {

const char* name_of(bool decoupled) { return decoupled ? "AdamW" : "Adam"; }

std::vector<ParamGroup<AdamOptions>> as_adam(std::vector<ParamGroup<AdamWOptions>> groups) {
  std::vector<ParamGroup<AdamOptions>> made;
  for (auto& [parameters, o] : groups)
    made.push_back({std::move(parameters), {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.amsgrad, o.maximize}});
  return made;
}

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, Options options, Loc where)
    : Adam({{std::move(parameters), options}}, where) {}

Adam::Adam(const std::vector<ParamGroup<Options>>& groups, Loc where) : Adam(std::move(groups), false, where) {}

Adam::Adam(const std::vector<ParamGroup<Options>>& groups, bool decoupled, Loc where)
    : GroupedOptimizer(groups, where, name_of(decoupled)), decoupled_(decoupled) {
  Adam::check_options(where);
}

void Adam::check_options(Loc where) const {
  const char* name = name_of(decoupled_);
  each_options([&](const Options& o) {
    check_settings(name, {{"eps", o.eps}, {"weight_decay", o.weight_decay}}, where);
    check_shares(name, {{"beta1", o.beta1}, {"beta2", o.beta2}}, where);
  });
}

Tensor Adam::updated(Update& update) {
  const DefaultFloatEnv floats;
  const Options& o = options(update);
  const Tensor& p = update.parameter();
  const Tensor rate = update.rate();
  const Tensor unbias_m = update.number([&o](int64_t t) { return unbiased(o.beta1, t); });
  const Tensor unbias_v = update.number([&o](int64_t t) { return unbiased(o.beta2, t); });
  const Tensor g = descent(update.gradient(), p, o.maximize, decoupled_ ? 0.0 : o.weight_decay);
  const Tensor m = update.set(first_, running(update.state(first_), g, o.beta1));
  Tensor v = update.set(second_, update.state(second_) * o.beta2 + g * g * (1.0 - o.beta2));
  if (o.amsgrad) {
    ensure_state(largest_, "max_exp_avg_sq");
    v = update.set(largest_, maximum(update.state(largest_), v));
  }
  const Tensor d = m * unbias_m / (sqrt(v * unbias_v) + o.eps);
  return (decoupled_ && o.weight_decay != 0 ? p - p * (rate * o.weight_decay) : p) - d * rate;
}

AdamW::AdamW(std::vector<Tensor> parameters, Options options, Loc where)
    : AdamW({{std::move(parameters), options}}, where) {}

AdamW::AdamW(const std::vector<ParamGroup<Options>>& groups, Loc where)
    : Adam(as_adam(std::move(groups)), true, where) {}

}  // namespace sinter::inline v0::optim
