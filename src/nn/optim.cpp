// Update rules in the public tensor API; the switch of all cells at once is tensor/commit.h's.
#include "sinter/nn/optim.h"

#include <fmt/core.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "sinter/call.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/commit.h"

namespace sinter {
inline namespace v0 {
namespace optim {

struct Optimizer::Update {
  enum class Role : uint8_t { Rate, First, Second };

  tensor::StepCommit& commit;
  const double lr;
  int64_t step = 0;  ///< of the parameter at hand, counts from 1
  std::map<std::tuple<Role, int64_t, DType>, Tensor> made = {};

  /// A launch argument that follows from the step. Parameters at the same step share it: a model that is trained as a
  /// whole has one of each, so that the plan stays the same.
  Tensor argument(Role role, DType dtype, double value) { return shared({role, step, dtype}, value); }
  Tensor rate(DType dtype) { return shared({Role::Rate, 0, dtype}, lr); }

 private:
  Tensor shared(const std::tuple<Role, int64_t, DType>& key, double value) {
    const auto [at, fresh] = made.try_emplace(key);
    if (fresh) at->second = number(value, std::get<DType>(key));
    return at->second;
  }
};

namespace {

/// UsageError unless every one of these settings is a number from 0 on.
void check_settings(const char* rule, std::initializer_list<std::pair<const char*, double>> settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0) || std::isinf(value))
      throw UsageError(fmt::format("{}: {} is {}; give a finite number from 0 on", rule, name, value), where);
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr, Loc where)
    : lr(lr), parameters_(std::move(parameters)), steps_(parameters_.size()) {
  CallScope call("Optimizer", where);
  if (parameters_.empty())
    throw UsageError("Optimizer: there are 0 parameters; give at least 1, such as nn::parameters(model)", where);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].defined() || !parameters_[i].needs_grad())
      throw UsageError(fmt::format("Optimizer: parameter {} of {} does not require grad; call requires_grad() on it", i, parameters_.size()), where);
    if (!parameters_[i].cell()->leaf_id)
      throw UsageError(fmt::format("Optimizer: parameter {} of {} is no leaf but computed from others, and collects no "
                                   "gradient; give the leaves",
                                   i, parameters_.size()),
                       where);
    for (size_t j = 0; j < i; ++j)
      if (parameters_[j].cell() == parameters_[i].cell())
        throw UsageError(fmt::format("Optimizer: parameters {} and {} are the same tensor; name it once", j, i), where);
  }
}

std::vector<Tensor> Optimizer::make_state() const {
  std::vector<Tensor> state;
  for (const Tensor& p : parameters_) state.push_back(zeros(p.shape(), p.dtype()).contiguous());
  realize_all(state);
  return state;
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step(Loc where) {
  tensor::Call call("step", where);
  check_settings("step", {{"lr", lr}}, where);
  no_grad guard;
  tensor::StepCommit commit;
  std::vector<size_t> reached;
  {
    Update update{commit, lr};
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& p = parameters_[i];
      if (!p.has_grad()) continue;
      update.step = steps_[i] + 1;
      commit.update(p, updated(i, p, p.grad(), update));
      commit.take_grad(p);
      reached.push_back(i);
    }
  }  // handles to parts of the step end here: what they held need not be stored
  commit.realize();
  for (size_t i : reached) ++steps_[i];
}

SGD::SGD(std::vector<Tensor> parameters, Options options, Loc where)
    : Optimizer(std::move(parameters), options.lr, where), options_(options) {
  check_settings("SGD", {{"lr", options.lr}, {"momentum", options.momentum}, {"weight_decay", options.weight_decay}},
                 where);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    throw UsageError(fmt::format("SGD: nesterov needs momentum above 0 (is {}) and dampening 0 (is {})", options.momentum, options.dampening), where);
  CallScope call("SGD", where);
  if (options.momentum != 0) velocity_ = make_state();
}

Tensor SGD::updated(size_t i, const Tensor& p, const Tensor& g, Update& update) {
  Tensor d = options_.weight_decay != 0 ? g + p * options_.weight_decay : g;
  if (options_.momentum != 0) {
    const double gain = update.step == 1 ? 1.0 : 1.0 - options_.dampening;
    const Tensor damped = options_.dampening != 0 ? d * update.argument(Update::Role::First, p.dtype(), gain) : d;
    const Tensor v = update.commit.update(velocity_[i], velocity_[i] * options_.momentum + damped);
    d = options_.nesterov ? d + v * options_.momentum : v;
  }
  return p - d * update.rate(p.dtype());
}

Adam::Adam(std::vector<Tensor> parameters, Options options, Loc where) : Adam(std::move(parameters), options, false, where) {}

Adam::Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where)
    : Optimizer(std::move(parameters), options.lr, where), options_(options), decoupled_(decoupled) {
  const char* name = decoupled ? "AdamW" : "Adam";
  check_settings(name, {{"lr", options.lr}, {"eps", options.eps}, {"weight_decay", options.weight_decay}}, where);
  for (double beta : {options.beta1, options.beta2})
    if (!(beta >= 0 && beta < 1)) throw UsageError(fmt::format("{}: beta {} lies outside [0, 1)", name, beta), where);
  CallScope call(name, where);
  first_ = make_state();
  second_ = make_state();
}

Tensor Adam::updated(size_t i, const Tensor& p, const Tensor& gradient, Update& update) {
  const DType dtype = p.dtype();
  const auto correction = [&](Update::Role role, double beta) {
    return update.argument(role, dtype, 1.0 / (1.0 - std::pow(beta, static_cast<double>(update.step))));
  };
  const Tensor rate = update.rate(dtype);
  const bool decays = options_.weight_decay != 0;
  const Tensor g = decays && !decoupled_ ? gradient + p * options_.weight_decay : gradient;
  const Tensor m = update.commit.update(first_[i], first_[i] * options_.beta1 + g * (1.0 - options_.beta1));
  const Tensor v = update.commit.update(second_[i], second_[i] * options_.beta2 + g * g * (1.0 - options_.beta2));
  const Tensor d = m * correction(Update::Role::First, options_.beta1) /
                   (sqrt(v * correction(Update::Role::Second, options_.beta2)) + options_.eps);
  return (decays && decoupled_ ? p - p * (rate * options_.weight_decay) : p) - d * rate;
}

AdamW::AdamW(std::vector<Tensor> parameters, Options options, Loc where)
    : Adam(std::move(parameters), {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay}, true, where) {}

}  // namespace optim
}  // namespace v0
}  // namespace sinter
