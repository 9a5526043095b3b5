// Layers of normalisation; LayerNorm is in layers.h. Weights begin at one, biases at zero.
#pragma once

#include <optional>

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// Of BatchNorm2d.
struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  ///< share of the batch in the running statistics
  bool affine = true;     ///< with weight and bias
};
/// x: [n, channels, h, w]. In training it normalises each channel by the batch's mean and variance, and moves the
/// running ones towards them (the variance without bias, n/(n-1)): UsageError unless each channel has at least two
/// values. Otherwise it normalises by the running ones. These are in the state_dict, and no parameters.
struct BatchNorm2d {
  explicit BatchNorm2d(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< empty handles without affine
  Tensor running_mean, running_var;
  BatchNormOptions options;
  bool training = true;
  SINTER_MODULE(weight, bias, running_mean, running_var)
};

/// x: [n, channels, ...]: normalises each group of channels with what lies behind them.
struct GroupNorm {
  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;
  int64_t groups;
  double eps;
  SINTER_MODULE(weight, bias)
};

/// x / sqrt(mean of squares + eps) * weight over the last axes, whose sizes are `shape`. Without an eps: the
/// machine epsilon of the type that it is computed in, float32's for 16 bits.
struct RMSNorm {
  explicit RMSNorm(Shape shape, std::optional<double> eps = {}, Loc where = Loc::current());
  explicit RMSNorm(int64_t size, std::optional<double> eps = {}, Loc where = Loc::current())
      : RMSNorm(Shape{size}, eps, where) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight;
  std::optional<double> eps;
  SINTER_MODULE(weight)
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
