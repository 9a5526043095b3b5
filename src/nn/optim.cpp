// What all update rules share. tensor/eval/step_commit.h switches all cells at once.
#include "sinter/nn/optim.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "nn/optim_terms.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/nn/state.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"
#include "tensor/core/host_step.h"
#include "tensor/core/user_call.h"
#include "tensor/eval/step_commit.h"

namespace sinter::inline v0::optim {

using namespace tensor;

/// A step under construction. Parameters of a group at the same step share its numbers. A model that is trained as a
/// whole has one of each, so its plan stays the same.
struct Optimizer::Step {
  /// Index of the rule's number, group, step, dtype, device, and the bits of the value: a NaN cannot be ordered.
  using Number = std::tuple<int, size_t, int64_t, DType, uint64_t, uint64_t>;
  /// A number as a function of the count of a parameter's updates, and who shares it.
  struct Source {
    std::function<double(int64_t)> value;
    std::vector<size_t> parameters;
    Tensor number;
  };

  StepCommit commit;
  std::map<Number, size_t> known = {};
  std::vector<Source> sources = {};

  Tensor number(int which, const Update& update, std::function<double(int64_t)> value) {
    const DType dtype = update.parameter().dtype();
    const Device device = update.parameter().device();
    const double now = runtime::cpu::with_default_float_env([&] { return value(update.step()); });
    const auto [at, fresh] = known.try_emplace(
        {which, update.group(), update.step(), dtype, device.id(), std::bit_cast<uint64_t>(now)}, sources.size());
    if (fresh) sources.push_back({std::move(value), {}, sinter::number(now, dtype, device)});
    sources[at->second].parameters.push_back(update.index());
    return sources[at->second].number;
  }
};

/// A step for replays of a jitted function.
class Optimizer::JitStep final : public HostStep {
 public:
  JitStep(Optimizer& optimizer, std::vector<Step::Source> sources, std::vector<size_t> reached)
      : optimizer_(optimizer),
        alive_(optimizer.alive_),
        revision_(optimizer.revision_),
        sources_(std::move(sources)),
        reached_(std::move(reached)) {
    for (Step::Source& s : sources_) s.number = Tensor();
  }

  bool fits() const override {
    if (alive_.expired() || optimizer_.revision_ != revision_) return false;
    for (const Step::Source& s : sources_)
      for (size_t i : s.parameters)
        if (steps()[i] != steps()[s.parameters[0]]) return false;
    return true;
  }
  double number(size_t n) const override {
    return runtime::cpu::with_default_float_env(
        [&] { return sources_[n].value(steps()[sources_[n].parameters[0]] + 1); });
  }
  void advance() override {
    for (size_t i : reached_) ++optimizer_.steps_[i];
  }
  void undo() override {
    for (size_t i : reached_) --optimizer_.steps_[i];
  }

 private:
  const std::vector<int64_t>& steps() const { return optimizer_.steps_; }

  Optimizer& optimizer_;
  const std::weak_ptr<void> alive_;
  const uint64_t revision_;
  std::vector<Step::Source> sources_;
  const std::vector<size_t> reached_;
};

Optimizer::Update::Update(Optimizer& optimizer, Step& step, size_t index)
    : optimizer_(optimizer), step_(step), index_(index), gradient_(parameter().grad()) {}

const Tensor& Optimizer::Update::parameter() const { return optimizer_.parameters_[index_]; }

size_t Optimizer::Update::group() const { return optimizer_.group_of_[index_]; }

int64_t Optimizer::Update::step() const { return optimizer_.steps_[index_] + 1; }

Tensor Optimizer::Update::rate() {
  return step_.number(-1, *this, [rate = optimizer_.rates_[group()]](int64_t) { return *rate; });
}

Tensor Optimizer::Update::number(std::function<double(int64_t t)> value) {
  return step_.number(numbers_++, *this, std::move(value));
}

Tensor Optimizer::Update::number(double value) {
  if (Observer::current())
    usage_error(
        "the rule's number {} is {} now, and what it will be at later calls of the jitted function is "
        "unknown; give number() a function of the step, as in number([](int64_t t) {{ return 1.0 / t; }})",
        numbers_, value);
  return number([value](int64_t) { return value; });
}

const Tensor& Optimizer::Update::state(State kind) const {
  if (kind.kind_ >= optimizer_.state_.size())
    throw UsageError(fmt::format("state: kind {} of {} kinds of state; make it in the constructor, by make_state",
                                 static_cast<int64_t>(kind.kind_), optimizer_.state_.size()));
  const auto made = set_.find(kind.kind_);
  return made != set_.end() ? made->second : optimizer_.state_[kind.kind_].tensors[index_];
}

int64_t Optimizer::Update::first_set(State kind) const {
  static_cast<void>(state(kind));  // refuses a kind that there is not
  const int64_t first = optimizer_.state_[kind.kind_].first_set[index_];
  return first ? first : step();
}

Tensor Optimizer::Update::set(State kind, const Tensor& value) {
  const Tensor& old = state(kind);
  if (set_.contains(kind.kind_))
    throw UsageError(fmt::format("set: the state {} of parameter {} was set in this step already; set it once",
                                 optimizer_.state_[kind.kind_].name, index_));
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
      steps_(parameters_.size()),
      alive_(std::make_shared<char>()),
      rule_(rule),
      made_at_(where) {
  const OuterCall call(rule, where);
  if (rates_.empty()) rates_ = {&own_lr_};
  group_of_.resize(parameters_.size());
  for (const double* rate : rates_) check_settings(rule, {{"lr", *rate}}, where);
  check_leaves(parameters_, rule, where);
}

void Optimizer::check_leaves(const std::vector<Tensor>& all, std::string_view rule, Loc where) {
  const auto fail = [&](const std::string& what) { usage_error_at(where, "{}: {}", rule, what); };
  if (all.empty()) fail("there are 0 parameters; give at least 1, such as nn::parameters(model)");
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined() || !all[i].needs_grad())
      fail(fmt::format("parameter {} of {} does not require grad; call requires_grad() on it", i, all.size()));
    if (!all[i].cell()->leaf_id)
      fail(fmt::format(
          "parameter {} of {} is no leaf but computed from others, and collects no gradient; give the leaves", i,
          all.size()));
  }
  std::map<const void*, size_t> seen;
  for (size_t i = 0; i < all.size(); ++i)
    if (const auto [at, fresh] = seen.emplace(all[i].cell().get(), i); !fresh)
      fail(fmt::format("parameters {} and {} are the same tensor; name it once", at->second, i));
}

void Optimizer::check_parameters(const std::vector<Tensor>& all, std::string_view call, Loc where) const {
  check_leaves(all, call, where);
  for (size_t i = 0; i < all.size(); ++i)
    check_parameter(all[i], fmt::format("{}: parameter {} of {}", call, i, all.size()), where);
}

void Optimizer::add_group(const std::vector<Tensor>& parameters, double& rate, Loc where) {
  const OuterCall call("add_param_group", where);
  check_settings("add_param_group", {{"lr", rate}}, where);
  if (parameters.empty()) throw UsageError("add_param_group: the group has 0 parameters; give at least 1", where);
  std::vector<Tensor> all = parameters_;
  all.insert(all.end(), parameters.begin(), parameters.end());
  check_parameters(all, "add_param_group", where);
  std::vector<std::vector<Tensor>> states;
  for (const StateKind& kind : state_) {
    states.push_back(kind.tensors);
    for (const Tensor& p : parameters) states.back().push_back(initial_state(p, kind.initial));
  }
  // Nothing throws from here on.
  for (size_t k = 0; k < states.size(); ++k) {
    state_[k].tensors = std::move(states[k]);
    state_[k].first_set.resize(all.size());
  }
  group_of_.resize(all.size(), rates_.size());
  steps_.resize(all.size());
  parameters_ = std::move(all);
  rates_.push_back(&rate);
  ++revision_;
}

void Optimizer::replace(Tensor& parameter, const Tensor& with, const std::function<Tensor(const Tensor&)>& state,
                        Loc where) {
  const OuterCall call("replace", where);
  const auto fail = [&](const std::string& what) { throw UsageError("replace: " + what, where); };
  if (Observer::current()) fail("a jitted function would not replace a parameter again; call it outside");
  const auto at = std::ranges::find_if(parameters_, [&](const Tensor& p) { return p.cell() == parameter.cell(); });
  if (at == parameters_.end())
    fail(fmt::format("{} is none of the {} parameters; give a handle to one of them",
                     parameter.defined() ? "the tensor " + to_string(parameter.shape()) : "an empty handle",
                     parameters_.size()));
  const auto i = static_cast<size_t>(at - parameters_.begin());
  std::vector<Tensor> all = parameters_, stored{with};
  all[i] = with;
  check_parameters(all, "replace", where);
  const no_grad guard;
  for (const StateKind& kind : state_) {
    if (!state) {
      stored.push_back(initial_state(with, kind.initial));
      continue;
    }
    const Tensor made = call_program_in_scope([&] { return state(kind.tensors[i]); });
    if (!made.defined() || !(made.shape() == with.shape()))
      fail(fmt::format("the function gave {} for {} of a parameter {}; give a tensor of the parameter's shape",
                       made.defined() ? to_string(made.shape()) : "an empty handle", kind.name,
                       to_string(with.shape())));
    stored.push_back(made.to(with.device()).to(with.dtype()).clone());
  }
  realize_all(stored, where);
  // Nothing throws from here on.
  for (size_t k = 0; k < state_.size(); ++k) state_[k].tensors[i] = stored[k + 1];
  if (!state) {
    steps_[i] = 0;
    for (StateKind& kind : state_) kind.first_set[i] = 0;
  }
  parameters_ = std::move(all);
  parameter = with;
  ++revision_;
}

std::vector<Tensor> Optimizer::group_parameters(size_t group, Loc where) const {
  require_group("group_parameters", group, where);
  std::vector<Tensor> found;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (group_of_[i] == group) found.push_back(parameters_[i]);
  return found;
}

void Optimizer::require_group(std::string_view call, size_t group, Loc where) const {
  if (group < rates_.size()) return;
  usage_error_at(where, "{}: there is no group {} among {}; they count from 0", call, group, rates_.size());
}

double& Optimizer::group_lr(size_t group, Loc where) {
  require_group("group_lr", group, where);
  return *rates_[group];
}

void Optimizer::check_options(Loc) const {}

void Optimizer::check_parameter(const Tensor&, const std::string&, Loc) const {}

/// Data of its own for each tensor. Equal zeros() would share one buffer, and only the first step would see that, so it
/// would be a program of its own.
Tensor Optimizer::initial_state(const Tensor& p, double value) {
  std::vector<unsigned char> bytes(static_cast<size_t>(p.shape().numel()) * size_of(p.dtype()));
  if (value != 0) {
    const auto element = full({}, value, p.dtype(), Device::cpu()).to_bytes();
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(element[i % element.size()]);
  }
  return from_bytes(bytes.data(), p.dtype(), p.shape(), p.device());
}

Optimizer::State Optimizer::make_state(std::string name, double initial) {
  const OuterCall call(rule_, made_at_);
  std::vector<Tensor> made = ir::mapped(parameters_, [&](const Tensor& p) { return initial_state(p, initial); });
  state_.push_back({std::move(name), std::move(made), initial, std::vector<int64_t>(parameters_.size())});
  return State(state_.size() - 1);
}

void Optimizer::ensure_state(State& state, std::string name, double initial) {
  if (!state) state = make_state(std::move(name), initial);
}

nn::NamedTensors Optimizer::state_dict() const {
  std::vector<double> rates = ir::mapped(rates_, [](const double* rate) { return *rate; });
  const Shape shape = rates.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(rates.size())};
  nn::NamedTensors found{{"lr", from(rates, shape, Device::cpu())}, {"steps", from(steps_, Device::cpu())}};
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (const StateKind& kind : state_) found.emplace_back(fmt::format("{}.{}", i, kind.name), kind.tensors[i]);
  return found;
}

void Optimizer::load(const nn::NamedTensors& from, nn::LoadOptions options, Loc where) {
  const OuterCall call("load", where);
  const nn::NamedTensors into = state_dict();
  const nn::NamedTensors numbers(into.begin(), into.begin() + 2);
  nn::load(numbers, from, {.strict = false, .cast = options.cast}, where);
  const std::vector<double> rates = numbers[0].second.to_vector<double>();
  const std::vector<int64_t> steps = numbers[1].second.to_vector<int64_t>();
  for (const double rate : rates) check_settings("load", {{"lr", rate}}, where);
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] < 0)
      usage_error_at(where,
                     "load: \"steps\" says that parameter {} of {} was updated {} times; give what "
                     "state_dict() returned, where the numbers are at least 0",
                     i, steps.size(), steps[i]);
  nn::load(into, from, options, where);
  for (size_t i = 0; i < rates.size(); ++i) *rates_[i] = rates[i];
  steps_ = steps;
  for (StateKind& kind : state_) {
    std::vector<int64_t> first = ir::mapped(steps_, [](const int64_t count) { return int64_t{count != 0}; });
    if (std::exchange(kind.first_set, first) != first) ++revision_;  // steps of jitted functions know the former
  }
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step(Loc where) {
  const Call call("step", where);
  for (const double* rate : rates_) check_settings("step", {{"lr", *rate}}, where);
  check_options(where);
  no_grad guard;
  Step step;
  std::vector<size_t> reached;
  std::vector<std::pair<size_t, size_t>> set_now;  // kinds of state, and whose
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].has_grad()) continue;
    for (StateKind& kind : state_) {
      nn::walk::move(kind.tensors[i], parameters_[i].device(), where);
      nn::walk::convert(kind.tensors[i], parameters_[i].dtype(), where);
    }
    Update update(*this, step, i);
    const auto next = [&] {
      const DefaultFloatEnv::ProgramFloatEnv program;  // the rule may be user code
      return updated(update);
    };
    step.commit.update(parameters_[i], next());
    step.commit.take_grad(parameters_[i]);
    reached.push_back(i);
    for (const auto& [kind, value] : update.set_) set_now.emplace_back(kind, i);
  }
  const auto note_first = [&] {
    for (const auto& [kind, i] : set_now)
      if (int64_t& first = state_[kind].first_set[i]; !first) first = steps_[i];
  };
  if (Observer* observer = Observer::current()) {
    std::vector<ir::UOp> numbers = ir::mapped(step.sources, [&](const Step::Source& s) { return node_of(s.number); });
    const auto counted = std::make_shared<JitStep>(*this, std::move(step.sources), reached);
    observer->on_step(counted, numbers);
    counted->advance();
    note_first();
    return step.commit.realize();
  }
  step.sources.clear();  // releases handles to intermediate values, so they need not be stored
  const auto count = [&] {
    for (size_t i : reached) ++steps_[i];
    note_first();
  };
  try {
    step.commit.realize();
  } catch (...) {
    if (step.commit.switched()) count();  // the gradients are taken: another step() would not repeat this one
    throw;
  }
  count();
}

}  // namespace sinter::inline v0::optim
