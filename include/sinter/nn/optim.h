// Optimisers. `step()` realises forward, backward and all updates in one plan, the losses among its outputs, and takes the
// gradients: a following zero_grad() is harmless.
#pragma once

#include <cstdint>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
/// Optimisers and learning-rate schedules.
namespace optim {

/// What all optimisers share: the parameters and their gradients. A parameter without a gradient is left alone by step().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Takes the gradients of all parameters.
  void zero_grad();
  /// One update. Nothing changes if it throws.
  void step(Loc where = Loc::current());
  /// As given.
  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// The learning rate; may be set between steps and compiles nothing anew.
  double lr;

 protected:
  /// UsageError when there is no parameter, or one is no leaf that requires grad, or stands twice.
  Optimizer(std::vector<Tensor> parameters, double lr, Loc where);
  /// One zero tensor per parameter, stored already: every step is then the same plan.
  std::vector<Tensor> make_state() const;

  /// One step being built: its launch arguments, and where new versions of state go.
  struct Update;
  /// New value of parameter i with gradient g.
  virtual Tensor updated(size_t i, const Tensor& p, const Tensor& g, Update& update) = 0;

  std::vector<Tensor> parameters_;
  std::vector<int64_t> steps_;  ///< how often each has been updated
};

/// As in the formula of SGD; rates per step.
struct SGDOptions { double lr = 1e-2, momentum = 0, dampening = 0, weight_decay = 0; bool nesterov = false; };
/// v = momentum v + (1 - dampening) g; p -= lr v, or lr (g + momentum v) with nesterov; g includes weight_decay * p.
/// As PyTorch's SGD; the first v of a parameter is its g.
class SGD final : public Optimizer {
 public:
  using Options = SGDOptions;  ///< as SGD::Options{.momentum = 0.9}
  explicit SGD(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());

 private:
  Tensor updated(size_t i, const Tensor& p, const Tensor& g, Update& update) override;
  Options options_;
  std::vector<Tensor> velocity_;
};

/// As in the formula of Adam; betas lie in [0, 1), UsageError.
struct AdamOptions { double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0; };
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) +
/// eps), where g includes weight_decay * p and t counts the updates of that parameter from 1. Kingma and Ba, ICLR 2015.
class Adam : public Optimizer {
 public:
  using Options = AdamOptions;  ///< as Adam::Options{.lr = 2e-3}
  explicit Adam(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());

 protected:
  Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where);

 private:
  Tensor updated(size_t i, const Tensor& p, const Tensor& g, Update& update) override;
  Options options_;
  bool decoupled_;
  std::vector<Tensor> first_, second_;
};

/// As Adam's.
struct AdamWOptions { double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2; };
/// Adam whose decay acts on the parameter, p -= lr weight_decay p, not through the gradient. Loshchilov and Hutter, ICLR
/// 2019.
class AdamW final : public Adam {
 public:
  using Options = AdamWOptions;  ///< as AdamW::Options{.weight_decay = 0.1}
  explicit AdamW(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
};

}  // namespace optim
}  // namespace v0
}  // namespace sinter
