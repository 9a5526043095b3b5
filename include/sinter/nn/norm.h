// Normalization layers; LayerNorm is in layers.h. Initial weights are one, biases zero.
#pragma once

#include <optional>

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// Options of BatchNorm2d.
struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  ///< share of the batch in the running statistics
  bool affine = true;     ///< with weight and bias
};
/// x: [n, channels, h, w]. In training it normalizes each channel by the batch's mean and variance, and updates the
/// running statistics with them (the variance unbiased, times n/(n-1)). UsageError then unless each channel has at
/// least two values. Otherwise it normalizes by the running statistics. These are in the state_dict, but are not
/// parameters.
struct BatchNorm2d {
  explicit BatchNorm2d(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< empty handles without affine
  Tensor running_mean, running_var;
  BatchNormOptions options;
  bool training = true;
  SINTER_MODULE(weight, bias, running_mean, running_var)
};

/// x: [n, channels, ...]: normalizes each group of channels together with the axes after them.
struct GroupNorm {
  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;
  int64_t groups;
  double eps;
  SINTER_MODULE(weight, bias)
};

/// x / sqrt(mean of squares + eps) * weight over the last axes, whose sizes are `shape`. The default eps is the machine
/// epsilon of the compute type: float32's for 16-bit floats.
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
