// Optimizers. `step()` realizes forward, backward and all updates in one plan, which also stores the losses. It takes
// the gradients, so a following zero_grad() has no effect.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
/// Optimizers and learning-rate schedules.
namespace optim {

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
  /// the gradients are taken.
  void step(Loc where = Loc::current());
  /// The parameters as given.
  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// The state to resume a training: "lr" (float64), "steps" (int64: the number of updates of each parameter), and the
  /// rule's state for parameter i, such as "i.momentum_buffer". These are handles to the state itself: save or clone it
  /// before the next step.
  /// @snippet training.cpp resume
  nn::NamedTensors state_dict() const;
  /// Resumes from a state_dict() of the same rule over equal parameters, to the bit. Errors and `options` as in
  /// nn::load.
  void load(const nn::NamedTensors& from, nn::LoadOptions options = {}, Loc where = Loc::current());
  /// The learning rate. It may be set between steps; nothing is recompiled.
  double lr;

 protected:
  /// UsageError if there is no parameter, if one is not a leaf that requires grad or is given twice, or if `lr` is
  /// negative or not finite. `rule` is the class that errors name.
  Optimizer(std::vector<Tensor> parameters, double lr, Loc where, std::string_view rule = "Optimizer");

  /// A kind of state: a tensor per parameter, of its shape and dtype.
  class State;
  /// A kind of state under that name in state_dict(), initially zero and stored, so every step is the same plan. For
  /// constructors; names must differ.
  State make_state(std::string name);

  /// One parameter in a step under construction.
  class Update;
  /// The new value of update.parameter(), built under no_grad; it need not be computed.
  virtual Tensor updated(Update& update) = 0;

 private:
  struct Step;
  std::vector<Tensor> parameters_;
  std::vector<int64_t> steps_;  ///< number of updates of each parameter
  std::vector<std::pair<std::string, std::vector<Tensor>>> state_;
};

/// A kind of state, returned by make_state().
class Optimizer::State {
 public:
  State() = default;  ///< none: not valid for an Update

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
  int64_t step() const;                                 ///< number of updates of this parameter, including this one
  /// lr in the parameter's dtype, as a launch argument.
  Tensor rate();
  /// A number that changes from step to step, in the parameter's dtype, as a launch argument: a constant would be
  /// compiled into the kernels. Parameters for which the rule makes the same calls share the numbers.
  Tensor number(double value);
  /// The state before the step, or after set().
  const Tensor& state(State kind) const;
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

/// The symbols of SGD's formula; rates are per step. UsageError unless all are finite and at least 0, and nesterov has
/// momentum above 0 and dampening 0.
struct SGDOptions {
  double lr = 1e-2, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
};
/// v = momentum v + (1 - dampening) g; p -= lr v, or lr (g + momentum v) with nesterov; g includes weight_decay * p. As
/// PyTorch's SGD: the first v of a parameter is its g. State: momentum_buffer, if momentum is not 0.
class SGD final : public Optimizer {
 public:
  using Options = SGDOptions;  ///< as SGD::Options{.momentum = 0.9}
  explicit SGD(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());

 private:
  Tensor updated(Update& update) override;
  Options options_;
  State velocity_;
};

/// The symbols of Adam's formula. UsageError unless betas are in [0, 1) and the others are finite and at least 0.
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) +
/// eps), where g includes weight_decay * p and t counts the updates of that parameter from 1. Kingma and Ba, ICLR 2015.
/// State: exp_avg (m), exp_avg_sq (v).
class Adam : public Optimizer {
 public:
  using Options = AdamOptions;  ///< as Adam::Options{.lr = 2e-3}
  explicit Adam(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());

 protected:
  Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where);

 private:
  Tensor updated(Update& update) override;
  Options options_;
  bool decoupled_;
  State first_, second_;
};

/// As AdamOptions.
struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
};
/// Adam with weight decay applied to the parameter, p -= lr weight_decay p, not to the gradient. Loshchilov and Hutter,
/// ICLR 2019.
class AdamW final : public Adam {
 public:
  using Options = AdamWOptions;  ///< as AdamW::Options{.weight_decay = 0.1}
  explicit AdamW(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
};

}  // namespace optim
}  // namespace v0
}  // namespace sinter
