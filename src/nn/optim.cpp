// Update rules in the public tensor API; the switch of all cells at once is tensor/commit.h's.
#include "sinter/nn/optim.h"

#include <fmt/core.h>

#include <cmath>

#include "sinter/call.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/commit.h"

namespace sinter {
inline namespace v0 {
namespace optim {

struct Optimizer::Update {
  tensor::StepCommit& commit;
  Tensor rate{}, first{}, second{};  ///< launch arguments: the learning rate, and what the rule needs besides
};

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr, Loc where) : lr(lr), parameters_(std::move(parameters)) {
  CallScope call("Optimizer", where);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].defined() || !parameters_[i].needs_grad())
      throw UsageError(fmt::format("Optimizer: parameter {} of {} does not require grad; call requires_grad() on it", i, parameters_.size()), where);
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
  no_grad guard;
  tensor::StepCommit commit;
  {
    Update update{commit};
    update.rate = number(lr);
    begin(steps_ + 1, update);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& p = parameters_[i];
      if (!p.has_grad()) continue;
      commit.update(p, updated(i, p, p.grad(), update));
      commit.take_grad(p);
    }
  }  // handles to parts of the step end here: what they held need not be stored
  commit.realize();
  ++steps_;
}

SGD::SGD(std::vector<Tensor> parameters, Options options, Loc where)
    : Optimizer(std::move(parameters), options.lr, where), options_(options) {
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    throw UsageError(fmt::format("SGD: nesterov needs momentum above 0 (is {}) and dampening 0 (is {})", options.momentum, options.dampening), where);
  CallScope call("SGD", where);
  if (options.momentum != 0) velocity_ = make_state();
}

void SGD::begin(int64_t t, Update& update) { update.first = number(t == 1 ? 1.0 : 1.0 - options_.dampening); }

Tensor SGD::updated(size_t i, const Tensor& p, const Tensor& g, Update& update) {
  Tensor d = options_.weight_decay != 0 ? g + p * options_.weight_decay : g;
  if (options_.momentum != 0) {
    const Tensor gain = options_.dampening != 0 ? d * update.first.to(p.dtype()) : d;
    const Tensor v = update.commit.update(velocity_[i], velocity_[i] * options_.momentum + gain);
    d = options_.nesterov ? d + v * options_.momentum : v;
  }
  return p - d * update.rate.to(p.dtype());
}

Adam::Adam(std::vector<Tensor> parameters, Options options, Loc where) : Adam(std::move(parameters), options, false, where) {}

Adam::Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where)
    : Optimizer(std::move(parameters), options.lr, where), options_(options), decoupled_(decoupled) {
  for (double beta : {options.beta1, options.beta2})
    if (!(beta >= 0 && beta < 1)) throw UsageError(fmt::format("Adam: beta {} lies outside [0, 1)", beta), where);
  CallScope call(decoupled ? "AdamW" : "Adam", where);
  first_ = make_state();
  second_ = make_state();
}

void Adam::begin(int64_t t, Update& update) {
  update.first = number(1.0 / (1.0 - std::pow(options_.beta1, static_cast<double>(t))));
  update.second = number(1.0 / (1.0 - std::pow(options_.beta2, static_cast<double>(t))));
}

Tensor Adam::updated(size_t i, const Tensor& p, const Tensor& gradient, Update& update) {
  const DType dtype = p.dtype();
  const Tensor rate = update.rate.to(dtype);
  const bool decays = options_.weight_decay != 0;
  const Tensor g = decays && !decoupled_ ? gradient + p * options_.weight_decay : gradient;
  const Tensor m = update.commit.update(first_[i], first_[i] * options_.beta1 + g * (1.0 - options_.beta1));
  const Tensor v = update.commit.update(second_[i], second_[i] * options_.beta2 + g * g * (1.0 - options_.beta2));
  const Tensor d = m * update.first.to(dtype) / (sqrt(v * update.second.to(dtype)) + options_.eps);
  return (decays && decoupled_ ? p - p * (rate * options_.weight_decay) : p) - d * rate;
}

AdamW::AdamW(std::vector<Tensor> parameters, Options options, Loc where)
    : Adam(std::move(parameters), {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay}, true, where) {}

}  // namespace optim
}  // namespace v0
}  // namespace sinter
