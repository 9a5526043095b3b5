// Update rules in the public tensor API. tensor/eval/step_commit.h switches all cells at once.
#include "sinter/nn/optim.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>

#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/nn/state.h"
#include "sinter/ops.h"
#include "tensor/eval/step_commit.h"

namespace sinter {
inline namespace v0 {
namespace optim {

/// A step under construction. Parameters at the same step share its numbers. A model that is trained as a whole has one
/// of each, so its plan stays the same.
struct Optimizer::Step {
  /// Index of the rule's number, step, dtype, device, and the bits of the value: a NaN cannot be ordered.
  using Number = std::tuple<int, int64_t, DType, uint64_t, uint64_t>;

  tensor::StepCommit commit;
  std::map<Number, Tensor> numbers = {};

  Tensor number(int which, int64_t step, const Tensor& parameter, double value) {
    const DType dtype = parameter.dtype();
    const Device device = parameter.device();
    const auto [at, fresh] = numbers.try_emplace({which, step, dtype, device.id(), std::bit_cast<uint64_t>(value)});
    if (fresh) at->second = sinter::number(value, dtype, device);
    return at->second;
  }
};

Optimizer::Update::Update(Optimizer& optimizer, Step& step, size_t index)
    : optimizer_(optimizer), step_(step), index_(index), gradient_(parameter().grad()) {}

const Tensor& Optimizer::Update::parameter() const { return optimizer_.parameters_[index_]; }

int64_t Optimizer::Update::step() const { return optimizer_.steps_[index_] + 1; }

Tensor Optimizer::Update::rate() { return step_.number(-1, 0, parameter(), optimizer_.lr); }

Tensor Optimizer::Update::number(double value) { return step_.number(numbers_++, step(), parameter(), value); }

const Tensor& Optimizer::Update::state(State kind) const {
  if (kind.kind_ >= optimizer_.state_.size())
    throw UsageError(fmt::format("state: kind {} of {} kinds of state; make it in the constructor, by make_state",
                                 static_cast<int64_t>(kind.kind_), optimizer_.state_.size()));
  const auto made = set_.find(kind.kind_);
  return made != set_.end() ? made->second : optimizer_.state_[kind.kind_].second[index_];
}

Tensor Optimizer::Update::set(State kind, const Tensor& value) {
  const Tensor& old = state(kind);
  if (set_.contains(kind.kind_))
    throw UsageError(fmt::format("set: the state {} of parameter {} was set in this step already; set it once",
                                 optimizer_.state_[kind.kind_].first, index_));
  return set_[kind.kind_] = step_.commit.update(old, value);
}

namespace {

/// UsageError unless every setting is finite and at least 0.
void check_settings(std::string_view rule, std::initializer_list<std::pair<const char*, double>> settings, Loc where) {
  for (const auto& [name, value] : settings)
    if (!(value >= 0) || std::isinf(value))
      throw UsageError(fmt::format("{}: {} is {}; give a finite number from 0 on", rule, name, value), where);
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr, Loc where, std::string_view rule)
    : lr(lr), parameters_(std::move(parameters)), steps_(parameters_.size()) {
  const tensor::OuterCall call(rule, where);
  check_settings(rule, {{"lr", lr}}, where);
  const auto fail = [&](const std::string& what) { throw UsageError(fmt::format("{}: {}", rule, what), where); };
  if (parameters_.empty()) fail("there are 0 parameters; give at least 1, such as nn::parameters(model)");
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].defined() || !parameters_[i].needs_grad())
      fail(fmt::format("parameter {} of {} does not require grad; call requires_grad() on it", i, parameters_.size()));
    if (!parameters_[i].cell()->leaf_id)
      fail(fmt::format(
          "parameter {} of {} is no leaf but computed from others, and collects no gradient; give the leaves", i,
          parameters_.size()));
    for (size_t j = 0; j < i; ++j)
      if (parameters_[j].cell() == parameters_[i].cell())
        fail(fmt::format("parameters {} and {} are the same tensor; name it once", j, i));
  }
}

/// Zeros as data, a buffer per tensor. Equal zeros() would share one buffer, and only the first step would see that, so
/// it would be a program of its own.
Optimizer::State Optimizer::make_state(std::string name) {
  std::vector<Tensor> made;
  for (const Tensor& p : parameters_) {
    const std::vector<unsigned char> bytes(static_cast<size_t>(p.shape().numel()) * size_of(p.dtype()));
    made.push_back(from_bytes(bytes.data(), p.dtype(), p.shape(), p.device()));
  }
  state_.emplace_back(std::move(name), std::move(made));
  return State(state_.size() - 1);
}

nn::NamedTensors Optimizer::state_dict() const {
  nn::NamedTensors found{{"lr", from(std::vector<double>{lr}, Shape{}, Device::cpu())},
                         {"steps", from(steps_, Device::cpu())}};
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (const auto& [name, tensors] : state_) found.emplace_back(fmt::format("{}.{}", i, name), tensors[i]);
  return found;
}

void Optimizer::load(const nn::NamedTensors& from, nn::LoadOptions options, Loc where) {
  const tensor::OuterCall call("load", where);
  const nn::NamedTensors into = state_dict();
  const nn::NamedTensors numbers(into.begin(), into.begin() + 2);
  nn::load(numbers, from, {.strict = false, .cast = options.cast}, where);
  const double rate = numbers[0].second.item<double>();
  const std::vector<int64_t> steps = numbers[1].second.to_vector<int64_t>();
  check_settings("load", {{"lr", rate}}, where);
  for (int64_t count : steps)
    if (count < 0)
      throw UsageError(fmt::format("load: a parameter was updated {} times; that is no state", count), where);
  nn::load(into, from, options, where);
  lr = rate;
  steps_ = steps;
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step(Loc where) {
  tensor::Call call("step", where);
  check_settings("step", {{"lr", lr}}, where);
  no_grad guard;
  Step step;
  std::vector<size_t> reached;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].has_grad()) continue;
    for (auto& [name, tensors] : state_) nn::walk::move(tensors[i], parameters_[i].device(), where);
    Update update(*this, step, i);
    const auto next = [&] {
      const tensor::DefaultFloatEnv::ProgramFloatEnv lifted(call.floats());  // the rule may be user code
      return updated(update);
    };
    step.commit.update(parameters_[i], next());
    step.commit.take_grad(parameters_[i]);
    reached.push_back(i);
  }
  step.numbers.clear();  // releases handles to intermediate values, so they need not be stored
  step.commit.realize();
  for (size_t i : reached) ++steps_[i];
}

SGD::SGD(std::vector<Tensor> parameters, Options options, Loc where)
    : Optimizer(std::move(parameters), options.lr, where, "SGD"), options_(options) {
  check_settings(
      "SGD", {{"momentum", options.momentum}, {"dampening", options.dampening}, {"weight_decay", options.weight_decay}},
      where);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    throw UsageError(fmt::format("SGD: nesterov needs momentum above 0 (is {}) and dampening 0 (is {})",
                                 options.momentum, options.dampening),
                     where);
  const tensor::OuterCall call("SGD", where);
  if (options.momentum != 0) velocity_ = make_state("momentum_buffer");
}

Tensor SGD::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Tensor& p = update.parameter();
  Tensor d = update.gradient();
  if (options_.weight_decay != 0) d = d + p * options_.weight_decay;
  if (options_.momentum != 0) {
    const double gain = update.step() == 1 ? 1.0 : 1.0 - options_.dampening;
    const Tensor damped = options_.dampening != 0 ? d * update.number(gain) : d;
    const Tensor v = update.set(velocity_, update.state(velocity_) * options_.momentum + damped);
    d = options_.nesterov ? d + v * options_.momentum : v;
  }
  return p - d * update.rate();
}

Adam::Adam(std::vector<Tensor> parameters, Options options, Loc where)
    : Adam(std::move(parameters), options, false, where) {}

namespace {

const char* name_of(bool decoupled) { return decoupled ? "AdamW" : "Adam"; }

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where)
    : Optimizer(std::move(parameters), options.lr, where, name_of(decoupled)),
      options_(options),
      decoupled_(decoupled) {
  const char* name = name_of(decoupled);
  check_settings(name, {{"eps", options.eps}, {"weight_decay", options.weight_decay}}, where);
  for (const auto& [beta, value] : {std::pair{"beta1", options.beta1}, {"beta2", options.beta2}})
    if (!(value >= 0 && value < 1))
      throw UsageError(fmt::format("{}: {} is {}; give a number in [0, 1)", name, beta, value), where);
  const tensor::OuterCall call(name, where);
  first_ = make_state("exp_avg");
  second_ = make_state("exp_avg_sq");
}

Tensor Adam::updated(Update& update) {
  const tensor::DefaultFloatEnv floats;
  const Tensor& p = update.parameter();
  const double t = static_cast<double>(update.step());
  const Tensor rate = update.rate();
  const Tensor unbias_m = update.number(1.0 / (1.0 - std::pow(options_.beta1, t)));
  const Tensor unbias_v = update.number(1.0 / (1.0 - std::pow(options_.beta2, t)));
  const bool decays = options_.weight_decay != 0;
  Tensor g = update.gradient();
  if (decays && !decoupled_) g = g + p * options_.weight_decay;
  const Tensor m = update.set(first_, update.state(first_) * options_.beta1 + g * (1.0 - options_.beta1));
  const Tensor v = update.set(second_, update.state(second_) * options_.beta2 + g * g * (1.0 - options_.beta2));
  const Tensor d = m * unbias_m / (sqrt(v * unbias_v) + options_.eps);
  return (decays && decoupled_ ? p - p * (rate * options_.weight_decay) : p) - d * rate;
}

AdamW::AdamW(std::vector<Tensor> parameters, Options options, Loc where)
    : Adam(std::move(parameters), {options.lr, options.beta1, options.beta2, options.eps, options.weight_decay}, true,
           where) {}

}  // namespace optim
}  // namespace v0
}  // namespace sinter
