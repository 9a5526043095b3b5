// What all update rules share. tensor/eval/step_commit.h switches all cells at once.
#include "sinter/nn/optim.h"

#include <fmt/core.h>

#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "nn/optim_terms.h"
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

size_t Optimizer::Update::group() const { return optimizer_.group_of_[index_]; }

int64_t Optimizer::Update::step() const { return optimizer_.steps_[index_] + 1; }

Tensor Optimizer::Update::rate() { return step_.number(-1, 0, parameter(), *optimizer_.rates_[group()]); }

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

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr, Loc where, std::string_view rule)
    : Optimizer({std::move(parameters), {}, {}}, where, rule) {
  own_lr_ = lr;
  check_settings(rule, {{"lr", lr}}, where);
}

Optimizer::Optimizer(Grouping grouping, Loc where, std::string_view rule)
    : rates_(std::move(grouping.rates)),
      lr(rates_.empty() ? own_lr_ : *rates_[0]),
      parameters_(std::move(grouping.parameters)),
      group_of_(std::move(grouping.group_of)),
      steps_(parameters_.size()) {
  const tensor::OuterCall call(rule, where);
  if (rates_.empty()) rates_ = {&own_lr_};
  group_of_.resize(parameters_.size());
  for (const double* rate : rates_) check_settings(rule, {{"lr", *rate}}, where);
  const auto fail = [&](const std::string& what) { throw UsageError(fmt::format("{}: {}", rule, what), where); };
  if (parameters_.empty()) fail("there are 0 parameters; give at least 1, such as nn::parameters(model)");
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].defined() || !parameters_[i].needs_grad())
      fail(fmt::format("parameter {} of {} does not require grad; call requires_grad() on it", i, parameters_.size()));
    if (!parameters_[i].cell()->leaf_id)
      fail(fmt::format(
          "parameter {} of {} is no leaf but computed from others, and collects no gradient; give the leaves", i,
          parameters_.size()));
  }
  std::map<const void*, size_t> seen;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (const auto [at, fresh] = seen.emplace(parameters_[i].cell().get(), i); !fresh)
      fail(fmt::format("parameters {} and {} are the same tensor; name it once", at->second, i));
}

double& Optimizer::group_lr(size_t group, Loc where) {
  if (group >= rates_.size())
    throw UsageError(fmt::format("group_lr: there is no group {} among {}; they count from 0", group, rates_.size()),
                     where);
  return *rates_[group];
}

void Optimizer::check_options(Loc) const {}

/// Data of its own for each tensor. Equal zeros() would share one buffer, and only the first step would see that, so it
/// would be a program of its own.
Optimizer::State Optimizer::make_state(std::string name, double initial) {
  std::vector<Tensor> made;
  for (const Tensor& p : parameters_) {
    std::vector<unsigned char> bytes(static_cast<size_t>(p.shape().numel()) * size_of(p.dtype()));
    if (initial != 0) {
      const auto element = full({}, initial, p.dtype(), Device::cpu()).to_bytes();
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(element[i % element.size()]);
    }
    made.push_back(from_bytes(bytes.data(), p.dtype(), p.shape(), p.device()));
  }
  state_.emplace_back(std::move(name), std::move(made));
  return State(state_.size() - 1);
}

void Optimizer::ensure_state(State& state, std::string name, double initial) {
  if (!state) state = make_state(std::move(name), initial);
}

nn::NamedTensors Optimizer::state_dict() const {
  std::vector<double> rates;
  for (const double* rate : rates_) rates.push_back(*rate);
  const Shape shape = rates.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(rates.size())};
  nn::NamedTensors found{{"lr", from(rates, shape, Device::cpu())}, {"steps", from(steps_, Device::cpu())}};
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (const auto& [name, tensors] : state_) found.emplace_back(fmt::format("{}.{}", i, name), tensors[i]);
  return found;
}

void Optimizer::load(const nn::NamedTensors& from, nn::LoadOptions options, Loc where) {
  const tensor::OuterCall call("load", where);
  const nn::NamedTensors into = state_dict();
  const nn::NamedTensors numbers(into.begin(), into.begin() + 2);
  nn::load(numbers, from, {.strict = false, .cast = options.cast}, where);
  const std::vector<double> rates = numbers[0].second.to_vector<double>();
  const std::vector<int64_t> steps = numbers[1].second.to_vector<int64_t>();
  for (const double rate : rates) check_settings("load", {{"lr", rate}}, where);
  for (int64_t count : steps)
    if (count < 0)
      throw UsageError(fmt::format("load: a parameter was updated {} times; that is no state", count), where);
  nn::load(into, from, options, where);
  for (size_t i = 0; i < rates.size(); ++i) *rates_[i] = rates[i];
  steps_ = steps;
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step(Loc where) {
  tensor::Call call("step", where);
  for (const double* rate : rates_) check_settings("step", {{"lr", *rate}}, where);
  check_options(where);
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

}  // namespace optim
}  // namespace v0
}  // namespace sinter
