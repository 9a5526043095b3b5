// Normalization layers; LayerNorm is in layers.h. Initial weights are one, biases zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

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
  /// x, [n, channels, ...], by the batch or by the running statistics, which move in training.
  Tensor batch_normalized(const char* layer, const Tensor& x) const;
  /// The same by each n alone. x: [n, channels, ...] or [channels, ...], with so many axes behind the channels; errors
  /// describe it by `layout`.
  Tensor instance_normalized(const char* layer, const Tensor& x, int64_t spatial_axes, std::string_view layout,
                             Loc where) const;

 private:
  /// Assigns the next versions of the running statistics.
  void track(const Tensor& mean, const Tensor& variance) const;
};
/// x: [n, channels] or [n, channels, length]. In training it normalizes each channel by the batch's mean and variance,
/// and updates the running statistics with them (the variance unbiased, times n/(n-1)). UsageError then unless each
/// channel has at least two values. Otherwise it normalizes by the running statistics.
struct BatchNorm1d : RunningNorm {
  explicit BatchNorm1d(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};
/// The same of [n, channels, h, w].
struct BatchNorm2d : RunningNorm {
  explicit BatchNorm2d(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};
/// The same of [n, channels, d, h, w].
struct BatchNorm3d : RunningNorm {
  explicit BatchNorm3d(int64_t channels, BatchNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
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
/// instance_norm(). x: [n, channels, length] or [channels, length]. UsageError in training unless each channel of a
/// sample has at least two values.
struct InstanceNorm1d : RunningNorm {
  explicit InstanceNorm1d(int64_t channels, InstanceNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};
/// The same of [n, channels, h, w] or [channels, h, w].
struct InstanceNorm2d : RunningNorm {
  explicit InstanceNorm2d(int64_t channels, InstanceNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};
/// The same of [n, channels, d, h, w] or [channels, d, h, w].
struct InstanceNorm3d : RunningNorm {
  explicit InstanceNorm3d(int64_t channels, InstanceNormOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
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
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
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

}  // namespace nn
}  // namespace v0
}  // namespace sinter
