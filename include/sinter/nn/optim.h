// Optimizers. `step()` realizes forward, backward and all updates in one plan, which also stores the losses. It takes
// the gradients, so a following zero_grad() has no effect.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/call.h"
#include "sinter/nn/module.h"

namespace sinter::inline v0 {
/// Optimizers and learning-rate schedules.
namespace optim {

/// Parameters that share options, as `{nn::parameters(model.head), {.lr = 1e-3}}` in a list of groups.
template <class O>
struct ParamGroup {
  std::vector<Tensor> parameters;
  O options = {};
};

/// What param_groups() gives for each group.
template <class O>
class OptimizerGroup {
 public:
  OptimizerGroup(std::vector<Tensor> parameters, O& options)
      : parameters_(std::move(parameters)), options_(options) {}     ///< both
  const std::vector<Tensor>& params() const { return parameters_; }  ///< the parameters, as given
  O& options() const { return options_; }                            ///< to read and to set, as Optimizer::options()

 private:
  std::vector<Tensor> parameters_;
  O& options_;
};

/// A number, but no flag.
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// The common part of optimizers: the parameters, their gradients, and a state that can be saved. step() skips a
/// parameter without a gradient. SGD and Adam below are examples of rules; derive your own in the same way, from the
/// protected members.
/// @snippet training.cpp rule
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;  ///< two would write one state: make a second one of the parameters
  Optimizer& operator=(const Optimizer&) = delete;
  /// Removes the gradients of all parameters.
  void zero_grad();
  /// One update. If it throws before the first launch, nothing changes. If a launch fails, its results are poisoned and
  /// the gradients are taken. In a jitted function, with the backward() before it, it is part of the program: replays
  /// use the learning rates and counts of then. Other options are those of the first calls there.
  void step(Loc where = Loc::current());
  /// The parameters as given, group after group.
  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// The state to resume a training: "lr" (float64, a number, or one for each of several groups), "steps" (int64: the
  /// number of updates of each parameter), and the rule's state for parameter i, such as "i.momentum_buffer". These are
  /// handles to the state itself: save or clone it before the next step.
  /// @snippet training.cpp resume
  nn::NamedTensors state_dict() const;
  /// Resumes from a state_dict() of the same rule over equal parameters and groups, to the bit. Errors and `options` as
  /// in nn::load.
  void load(const nn::NamedTensors& from, nn::LoadOptions options = {}, Loc where = Loc::current());
  /// The parameters of a group, as given. UsageError if there is no such group.
  std::vector<Tensor> group_parameters(size_t group, Loc where = Loc::current()) const;
  /// `parameter`, a handle to one of the parameters, becomes `with`, a leaf that may have another shape, as where
  /// points are added to a model or taken from it. state(s) gives each of its states s, such as exp_avg, in the new
  /// shape, and its count of updates stays. Without a function states and count begin anew. Computes the parameter and
  /// its states. UsageError if it is none of the parameters, if `with` could not be one, for a state of another shape,
  /// and in a jitted function; nothing changes then. A jitted function that makes steps is captured again.
  /// @snippet training.cpp replace
  void replace(Tensor& parameter, const Tensor& with, const std::function<Tensor(const Tensor&)>& state = {},
               Loc where = Loc::current());
  /// The number of groups of parameters; 1 if they were given as one list.
  size_t group_count() const { return rates_.size(); }
  /// The learning rate of a group, to read and to set. UsageError if there is no such group.
  double& group_lr(size_t group, Loc where = Loc::current());

 private:
  double own_lr_ = 0;           ///< the rate of an optimizer that has no options
  std::vector<double*> rates_;  ///< of each group

 public:
  /// The learning rate; with several groups, the first one's. It may be set between steps; nothing is recompiled.
  double& lr;

 protected:
  /// UsageError if there is no parameter, if one is not a leaf that requires grad or is given twice, or if `lr` is
  /// negative or not finite. `rule` is the class that errors name.
  Optimizer(std::vector<Tensor> parameters, double lr, Loc where, std::string_view rule = "Optimizer");
  /// Which group each parameter belongs to, and where the rate of each group lies.
  struct Grouping {
    std::vector<Tensor> parameters;
    std::vector<size_t> group_of;
    std::vector<double*> rates;
  };
  /// Several groups: what GroupedOptimizer calls.
  Optimizer(Grouping grouping, Loc where, std::string_view rule);

  /// What GroupedOptimizer::add_param_group() calls. Errors as the constructor's; nothing changes then.
  void add_group(const std::vector<Tensor>& parameters, double& rate, Loc where);

  /// A kind of state: a tensor per parameter, of its shape and dtype.
  class State;
  /// A kind of state under that name in state_dict(), with that value in each element and stored, so every step is the
  /// same plan. For constructors; names must differ.
  State make_state(std::string name, double initial = 0);
  /// The same unless `state` is one already: for a rule whose options ask for it later.
  void ensure_state(State& state, std::string name, double initial = 0);

  /// Another number whenever a parameter was added or replaced.
  uint64_t revision() const { return revision_; }

  /// One parameter in a step under construction.
  class Update;
  /// The new value of update.parameter(), built under no_grad; it need not be computed.
  virtual Tensor updated(Update& update) = 0;
  /// UsageError if the options are not valid. Called by each step(), since they may have been written.
  virtual void check_options(Loc where) const;
  /// UsageError if the rule cannot update such a parameter, which the text calls `which`, as "SGD: parameter 1 of 3".
  /// Called by add_param_group() and replace(); a rule that has one calls check_parameters() in its constructor.
  virtual void check_parameter(const Tensor& parameter, const std::string& which, Loc where) const;
  /// UsageError unless `all` can be the parameters of this rule. `call` is the class or call that errors name.
  void check_parameters(const std::vector<Tensor>& all, std::string_view call, Loc where) const;

 private:
  struct Step;
  class JitStep;
  std::vector<Tensor> parameters_;
  std::vector<size_t> group_of_;  ///< the group of each parameter
  std::vector<int64_t> steps_;    ///< number of updates of each parameter
  uint64_t revision_ = 0;
  std::shared_ptr<void> alive_;  ///< for jitted functions that make steps
  std::string rule_;             ///< the class that errors name
  Loc made_at_;
  struct StateKind {
    std::string name;
    std::vector<Tensor> tensors;  ///< per parameter
    double initial;
    std::vector<int64_t> first_set;  ///< per parameter, which of its updates was the first to set it; 0: none yet
  };
  static Tensor initial_state(const Tensor& parameter, double value);
  void require_group(std::string_view call, size_t group, Loc where) const;
  static void check_leaves(const std::vector<Tensor>& all, std::string_view rule, Loc where);
  std::vector<StateKind> state_;
};

/// A kind of state, returned by make_state().
class Optimizer::State {
 public:
  State() = default;  ///< none: not valid for an Update
  /// Whether make_state() returned it.
  explicit operator bool() const { return kind_ != SIZE_MAX; }

 private:
  friend class Optimizer;
  explicit State(size_t kind) : kind_(kind) {}
  size_t kind_ = SIZE_MAX;
};

/// Access of a rule to one parameter.
class Optimizer::Update {
 public:
  const Tensor& parameter() const;                      ///< its value before the step
  const Tensor& gradient() const { return gradient_; }  ///< of its shape and dtype
  size_t index() const { return index_; }               ///< its index in parameters()
  size_t group() const;                                 ///< the group it belongs to
  int64_t step() const;                                 ///< number of updates of this parameter, including this one
  /// The lr of its group in the parameter's dtype, as a launch argument.
  Tensor rate();
  /// A number that changes from step to step, in the parameter's dtype, as a launch argument: a constant would be
  /// compiled into the kernels. `value` is a function of step(), and of nothing but options: the step of a jitted
  /// function calls it again at each replay. Parameters of a group for which the rule makes the same calls share the
  /// numbers.
  Tensor number(std::function<double(int64_t t)> value);
  /// The same for a number that is known only now: UsageError in a jitted function.
  Tensor number(double value);
  /// The state before the step, or after set().
  const Tensor& state(State kind) const;
  /// Which update of this parameter, counted as by step(), is or was the first to set the state. After a load(): 1.
  int64_t first_set(State kind) const;
  /// Sets the state after the step. Use the result in place of `value`, so that it is read and not computed again.
  Tensor set(State kind, const Tensor& value);

 private:
  friend class Optimizer;
  Update(Optimizer& optimizer, Step& step, size_t index);
  Optimizer& optimizer_;
  Step& step_;
  size_t index_;
  Tensor gradient_;
  int numbers_ = 0;
  std::map<size_t, Tensor> set_;
};

/// What GroupedOptimizer is constructed from before its optimizer.
template <class O>
struct OptionGroups {
  std::deque<O> group_options;  ///< of each group; they stay where they are, and so do the rates in them
};

/// An optimizer with options, a set for each group of its parameters. O has a member `double lr`.
/// @snippet training.cpp groups
template <class O>
class GroupedOptimizer : private OptionGroups<O>, public Optimizer {
 public:
  /// The options of a group, to read and to set between steps. Another lr compiles nothing; another value of the others
  /// is a program of its own. UsageError if there is no such group.
  O& options(size_t group = 0, Loc where = Loc::current()) {
    group_lr(group, where);
    return this->group_options[group];
  }
  /// All groups: `for (auto& group : optimizer.param_groups()) group.options().lr *= 0.1;`
  std::vector<OptimizerGroup<O>> param_groups(Loc where = Loc::current()) {
    std::vector<OptimizerGroup<O>> made;
    for (size_t i = 0; i < group_count(); ++i) made.emplace_back(group_parameters(i, where), options(i, where));
    return made;
  }
  /// One more group, as when layers are unfrozen while training. Its counts and states begin with its first step;
  /// schedules made before leave its rate alone. Errors as the constructor's.
  void add_param_group(const ParamGroup<O>& group, Loc where = Loc::current()) {
    this->group_options.push_back(group.options);
    try {
      check_options(where);
      add_group(group.parameters, this->group_options.back().lr, where);
    } catch (...) {
      this->group_options.pop_back();
      throw;
    }
  }

 protected:
  /// Errors as Optimizer's, over all groups.
  GroupedOptimizer(const std::vector<ParamGroup<O>>& groups, Loc where, std::string_view rule)
      : OptionGroups<O>{options_of(groups)}, Optimizer(grouping(groups, this->group_options), where, rule) {}
  /// The options of the parameter's group.
  const O& options(const Update& update) const { return this->group_options[update.group()]; }
  /// Calls check(options) for each group.
  template <class F>
  void each_options(F&& check) const {
    for (const O& o : this->group_options) check(o);
  }
  /// make_state() if a group needs it: a member of its options is not 0. Otherwise none.
  template <class T>
  State make_state_if(T O::* needed, std::string name) {
    State state;
    for (const O& o : this->group_options)
      if (o.*needed != 0) ensure_state(state, name);
    return state;
  }

 private:
  static std::deque<O> options_of(const std::vector<ParamGroup<O>>& groups) {
    std::deque<O> made;
    for (const ParamGroup<O>& group : groups) made.push_back(group.options);
    return made;
  }
  static Grouping grouping(const std::vector<ParamGroup<O>>& groups, std::deque<O>& options) {
    Grouping made;
    for (size_t i = 0; i < groups.size(); ++i) {
      made.rates.push_back(&options[i].lr);
      for (const Tensor& p : groups[i].parameters) made.parameters.push_back(p), made.group_of.push_back(i);
    }
    return made;
  }
};

/// A rule of the library: its options check themselves.
template <CallName name, class O>
class UpdateRule : public GroupedOptimizer<O> {
 public:
  using Options = O;  ///< as SGD::Options{.momentum = 0.9}
  explicit UpdateRule(std::vector<Tensor> parameters, O options = {}, Loc where = Loc::current())
      : UpdateRule(std::vector<ParamGroup<O>>{{std::move(parameters), options}}, where) {}
  /// The same with a learning rate and else what options are by default: SGD(parameters, 0.1).
  template <Number N>
  explicit UpdateRule(std::vector<Tensor> parameters, N lr, Loc where = Loc::current())
      : UpdateRule(std::move(parameters), O{.lr = static_cast<double>(lr)}, where) {}
  /// The same with several groups.
  explicit UpdateRule(const std::vector<ParamGroup<O>>& groups, Loc where = Loc::current())
      : GroupedOptimizer<O>(groups, where, name.text) {
    UpdateRule::check_options(where);
  }

 protected:
  void check_options(Loc where) const final {
    this->each_options([&](const O& o) { o.check(where); });
  }
};

/// The symbols of SGD's formula; rates are per step.
struct SGDOptions {
  double lr = 1e-2, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;  ///< goes up: the negated gradient is taken
  /// UsageError unless all are finite and at least 0, and nesterov has momentum above 0 and dampening 0.
  void check(Loc where) const;
};
/// v = momentum v + (1 - dampening) g; p -= lr v, or lr (g + momentum v) with nesterov; g includes weight_decay * p. As
/// PyTorch's SGD: the first v of a parameter is its g, also where momentum is given later. State: momentum_buffer, if
/// momentum is not 0.
class SGD final : public UpdateRule<"SGD", SGDOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor updated(Update& update) override;
  State velocity_ = make_state_if(&Options::momentum, "momentum_buffer");
};

/// The symbols of Adam's formula. UsageError unless betas are in [0, 1) and the others are finite and at least 0.
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false;   ///< divides by the largest v so far. Reddi et al., ICLR 2018
  bool maximize = false;  ///< goes up: the negated gradient is taken
};
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) +
/// eps), where g includes weight_decay * p and t counts the updates of that parameter from 1. Kingma and Ba, ICLR 2015.
/// State: exp_avg (m), exp_avg_sq (v), and max_exp_avg_sq with amsgrad.
class Adam : public GroupedOptimizer<AdamOptions> {
 public:
  using Options = AdamOptions;  ///< as Adam::Options{.lr = 2e-3}
  explicit Adam(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
  /// The same with a learning rate and else what options are by default.
  template <Number N>
  explicit Adam(std::vector<Tensor> parameters, N lr, Loc where = Loc::current())
      : Adam(std::move(parameters), Options{.lr = static_cast<double>(lr)}, where) {}
  /// The same with several groups.
  explicit Adam(const std::vector<ParamGroup<Options>>& groups, Loc where = Loc::current());

 protected:
  /// With or without decay of the parameter in place of the gradient's.
  Adam(const std::vector<ParamGroup<Options>>& groups, bool decoupled, Loc where);

 private:
  Tensor updated(Update& update) override;
  void check_options(Loc where) const override;
  bool decoupled_;
  State first_ = make_state("exp_avg"), second_ = make_state("exp_avg_sq");
  State largest_ = make_state_if(&Options::amsgrad, "max_exp_avg_sq");
};

/// As AdamOptions.
struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
  bool amsgrad = false;   ///< divides by the largest v so far
  bool maximize = false;  ///< goes up: the negated gradient is taken
};
/// Adam with weight decay applied to the parameter, p -= lr weight_decay p, not to the gradient. Loshchilov and Hutter,
/// ICLR 2019. options() are AdamOptions.
class AdamW final : public Adam {
 public:
  using Options = AdamWOptions;  ///< as AdamW::Options{.weight_decay = 0.1}
  explicit AdamW(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
  /// The same with a learning rate and else what options are by default.
  template <Number N>
  explicit AdamW(std::vector<Tensor> parameters, N lr, Loc where = Loc::current())
      : AdamW(std::move(parameters), Options{.lr = static_cast<double>(lr)}, where) {}
  /// The same with several groups.
  explicit AdamW(const std::vector<ParamGroup<Options>>& groups, Loc where = Loc::current());
};

}  // namespace optim
}  // namespace sinter::inline v0
