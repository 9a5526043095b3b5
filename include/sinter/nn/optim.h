// Optimisers. `step()` realises forward, backward and all updates in one plan, the losses among its outputs, and takes the
// gradients: a following zero_grad() is harmless.
#pragma once

#include <cstdint>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
namespace optim {

/// What all optimisers share: the parameters and their gradients. A parameter without a gradient is left alone by step().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  void zero_grad();
  /// One update. Nothing changes if it throws.
  void step(Loc where = Loc::current());
  const std::vector<Tensor>& parameters() const { return parameters_; }
  /// The learning rate; may be set between steps and compiles nothing anew.
  double lr;

 protected:
  /// UsageError when a parameter is no leaf that requires grad, or stands twice.
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

/// v = momentum v + (1 - dampening) g; p -= lr v, or lr (g + momentum v) with nesterov; g includes weight_decay * p.
/// As PyTorch's SGD; the first v of a parameter is its g.
class SGD final : public Optimizer {
 public:
  struct Options { double lr = 1e-2, momentum = 0, dampening = 0, weight_decay = 0; bool nesterov = false; };
  SGD(std::vector<Tensor> parameters, Options options, Loc where = Loc::current());

 private:
  Tensor updated(size_t i, const Tensor& p, const Tensor& g, Update& update) override;
  Options options_;
  std::vector<Tensor> velocity_;
};

/// Kingma and Ba, ICLR 2015, with bias correction by the updates that each parameter has had; weight_decay is added to
/// the gradient.
class Adam : public Optimizer {
 public:
  struct Options { double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0; };
  Adam(std::vector<Tensor> parameters, Options options, Loc where = Loc::current());

 protected:
  Adam(std::vector<Tensor> parameters, Options options, bool decoupled, Loc where);

 private:
  Tensor updated(size_t i, const Tensor& p, const Tensor& g, Update& update) override;
  Options options_;
  bool decoupled_;
  std::vector<Tensor> first_, second_;
};

/// Loshchilov and Hutter, ICLR 2019: the decay acts on the parameter, not through the gradient.
class AdamW final : public Adam {
 public:
  struct Options { double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2; };
  AdamW(std::vector<Tensor> parameters, Options options, Loc where = Loc::current());
};

}  // namespace optim
}  // namespace v0
}  // namespace sinter
