// Normalization layers; LayerNorm is in layers.h. Initial weights are one, biases zero.
#pragma once

#include <cstdint>
#include <optional>

#include "sinter/nn/function_layer.h"
#include "sinter/normalization.h"

namespace sinter::inline v0::nn {

/// Options of BatchNorm1d, BatchNorm2d and BatchNorm3d.
struct BatchNormOptions {
  double eps = 1e-5;
  /// Share of the batch in the running statistics. None: they are the means over all batches since training began.
  std::optional<double> momentum = 0.1;
  bool affine = true;               ///< with weight and bias
  bool track_running_stats = true;  ///< false: normalizes by the batch also when not training
};
/// What layers with running statistics have. They are in the state_dict, but are not parameters.
struct RunningNorm {
  Tensor weight, bias;               ///< empty handles without affine
  Tensor running_mean, running_var;  ///< empty handles unless tracked
  /// int64 []: the batches that the running statistics are the means of. An empty handle unless they are tracked
  /// without momentum. A file that lacks it, and has the statistics, leaves it as it is.
  Tensor num_batches_tracked;
  BatchNormOptions options;
  int64_t channels;
  bool training = true;
  SINTER_MODULE(weight, bias, running_mean, running_var, num_batches_tracked)

 protected:
  /// For the layers, with their name.
  RunningNorm(const char* layer, int64_t channels, BatchNormOptions options, Loc where);
  /// x, [n, channels, ...] with so many axes behind the channels, by the batch or by the running statistics, which move
  /// in training.
  Tensor batch_normalized(const char* layer, size_t axes, const Tensor& x, Loc where) const;
  /// The same by each n alone. x: [n, channels, ...] or [channels, ...].
  Tensor instance_normalized(const char* layer, size_t axes, const Tensor& x, Loc where) const;

 private:
  /// Assigns the next versions of the running statistics.
  void track(const Tensor& mean, const Tensor& variance) const;
};

/// Normalization by the batch. In training each channel is normalized by the batch's mean and variance, and the running
/// statistics move with them (the variance unbiased, times n/(n-1)). UsageError then unless each channel has at least
/// two values. Otherwise the running statistics normalize.
template <CallName name, size_t axes>
struct BatchNormLayer : RunningNorm {
  explicit BatchNormLayer(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current())
      : RunningNorm(name.text, channels, options, where) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    return batch_normalized(name.text, axes, x, where);
  }
};

/// x: [n, channels] or [n, channels, length].
struct BatchNorm1d : BatchNormLayer<"BatchNorm1d", 1> {
  using BatchNormLayer::BatchNormLayer;
};
/// x: [n, channels, h, w].
struct BatchNorm2d : BatchNormLayer<"BatchNorm2d", 2> {
  using BatchNormLayer::BatchNormLayer;
};
/// x: [n, channels, d, h, w].
struct BatchNorm3d : BatchNormLayer<"BatchNorm3d", 3> {
  using BatchNormLayer::BatchNormLayer;
};

/// Options of InstanceNorm1d, InstanceNorm2d and InstanceNorm3d.
struct InstanceNormOptions {
  double eps = 1e-5;
  /// Share of a batch in the running statistics. None: they are the means over all batches since training began, where
  /// PyTorch's InstanceNorm leaves them alone.
  std::optional<double> momentum = 0.1;
  bool affine = false;               ///< with weight and bias
  bool track_running_stats = false;  ///< true: keeps means over the batch, and normalizes by them when not training
};
/// instance_norm(). UsageError in training unless each channel of a sample has at least two values.
template <CallName name, size_t axes>
struct InstanceNormLayer : RunningNorm {
  explicit InstanceNormLayer(int64_t channels, InstanceNormOptions options = {}, Loc where = Loc::current())
      : RunningNorm(name.text, channels, {options.eps, options.momentum, options.affine, options.track_running_stats},
                    where) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    return instance_normalized(name.text, axes, x, where);
  }
};

/// x: [n, channels, length] or [channels, length].
struct InstanceNorm1d : InstanceNormLayer<"InstanceNorm1d", 1> {
  using InstanceNormLayer::InstanceNormLayer;
};
/// x: [n, channels, h, w] or [channels, h, w].
struct InstanceNorm2d : InstanceNormLayer<"InstanceNorm2d", 2> {
  using InstanceNormLayer::InstanceNormLayer;
};
/// x: [n, channels, d, h, w] or [channels, d, h, w].
struct InstanceNorm3d : InstanceNormLayer<"InstanceNorm3d", 3> {
  using InstanceNormLayer::InstanceNormLayer;
};

/// Options of GroupNorm.
struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< with weight and bias
};
/// x: [n, channels, ...]: normalizes each group of channels together with the axes after them.
struct GroupNorm {
  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, Loc where = Loc::current())
      : GroupNorm(groups, channels, GroupNormOptions{.eps = eps}, where) {}
  GroupNorm(int64_t groups, int64_t channels, GroupNormOptions options, Loc where = Loc::current());
  SINTER_LAYER_CALL("GroupNorm", group_norm(x, groups, weight, bias, eps))
  Tensor weight, bias;  ///< empty handles without affine
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

}  // namespace sinter::inline v0::nn
