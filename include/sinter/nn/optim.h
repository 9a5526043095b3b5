// Optimisers. `step()` realises forward, backward and all updates in one plan, the losses among its outputs, and takes
// the gradients: a following zero_grad() is harmless.
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
/// Optimisers and learning-rate schedules.
namespace optim {

/// What all optimisers share: the parameters, their gradients, and a state that can be saved. A parameter without a
/// gradient is left alone by step(). SGD and Adam below are such rules; one of your own derives as they do, from what
/// is protected here.
/// @snippet training.cpp rule
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;  ///< two would write one state: make a second one of the parameters
  Optimizer& operator=(const Optimizer&) = delete;
  /// Takes the gradients of all parameters.
  void zero_grad();
  /// One update. Nothing changes if it throws before the first launch; a launch that fails leaves what it should have
  /// written poisoned, and the gradients are taken.
  void step(Loc where = Loc::current());
  /// As given.
  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// What a training goes on from: "lr" (float64), "steps" (int64: how often each parameter has been updated), and what
  /// the rule keeps for parameter i, such as "i.momentum_buffer". Handles to the state itself: save or clone it before
  /// the next step.
  /// @snippet training.cpp resume
  nn::NamedTensors state_dict() const;
  /// Goes on where a state_dict() of the same rule over equal parameters was taken, to the bit. Errors and `options` as
  /// nn::load.
  void load(const nn::NamedTensors& from, nn::LoadOptions options = {}, Loc where = Loc::current());
  /// The learning rate; may be set between steps and compiles nothing anew.
  double lr;

 protected:
  /// UsageError when there is no parameter, or one is no leaf that requires grad, or stands twice, or `lr` is negative
  /// or not finite. `rule` is whom errors name: the class.
  Optimizer(std::vector<Tensor> parameters, double lr, Loc where, std::string_view rule = "Optimizer");

  /// A kind of state: a tensor per parameter, of its shape and dtype.
  class State;
  /// A kind of state under that name in state_dict(), zero at first and stored already: every step is then the same
  /// plan. For constructors; names must differ.
  State make_state(std::string name);

  /// One parameter in a step that is being built.
  class Update;
  /// The new value of update.parameter(), built under no_grad; it need not be computed.
  virtual Tensor updated(Update& update) = 0;

 private:
  struct Step;
  std::vector<Tensor> parameters_;
  std::vector<int64_t> steps_;  ///< how often each has been updated
  std::vector<std::pair<std::string, std::vector<Tensor>>> state_;
};

/// What make_state() gives.
class Optimizer::State {
 public:
  State() = default;  ///< none: of no use to an Update

 private:
  friend class Optimizer;
  explicit State(size_t kind) : kind_(kind) {}
  size_t kind_ = SIZE_MAX;
};

/// What a rule may ask and say about one parameter.
class Optimizer::Update {
 public:
  const Tensor& parameter() const;                      ///< its value before the step
  const Tensor& gradient() const { return gradient_; }  ///< of its shape and dtype
  size_t index() const { return index_; }               ///< its place in parameters()
  int64_t step() const;                                 ///< the updates of this parameter, this one included
  /// lr in the parameter's dtype, as an argument of the launch.
  Tensor rate();
  /// A number that differs from step to step, in the parameter's dtype, as an argument of the launch: a constant would
  /// be compiled into the kernels. Parameters for which the rule makes the same calls share the numbers.
  Tensor number(double value);
  /// The state before the step, or what set() made of it.
  const Tensor& state(State kind) const;
  /// The state after the step. Use what comes back in place of `value`, so that it is read and not computed again.
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

/// As in the formula of SGD; rates per step. Finite numbers from 0 on, UsageError; nesterov needs momentum above 0 and
/// dampening 0.
struct SGDOptions {
  double lr = 1e-2, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
};
/// v = momentum v + (1 - dampening) g; p -= lr v, or lr (g + momentum v) with nesterov; g includes weight_decay * p.
/// As PyTorch's SGD; the first v of a parameter is its g. State: momentum_buffer, if there is momentum.
class SGD final : public Optimizer {
 public:
  using Options = SGDOptions;  ///< as SGD::Options{.momentum = 0.9}
  explicit SGD(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());

 private:
  Tensor updated(Update& update) override;
  Options options_;
  State velocity_;
};

/// As in the formula of Adam; betas lie in [0, 1), the others are finite and from 0 on, UsageError.
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

/// As Adam's.
struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
};
/// Adam whose decay acts on the parameter, p -= lr weight_decay p, not through the gradient. Loshchilov and Hutter,
/// ICLR 2019.
class AdamW final : public Adam {
 public:
  using Options = AdamWOptions;  ///< as AdamW::Options{.weight_decay = 0.1}
  explicit AdamW(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
};

}  // namespace optim
}  // namespace v0
}  // namespace sinter
