// Softmax and norms.
#pragma once

#include <concepts>
#include <optional>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup normalization Normalization
/// Integers are computed in float32. Shapes stay.
/// @snippet normalization.cpp normalization
/// @{

/// exp(x - max) / sum exp(x - max) along the axis. `dtype`, if given, is the type that x is converted to before.
Tensor softmax(Arg x, int64_t axis = -1, DType dtype = DType::Void);
/// log(softmax(x)), computed as x - max - log sum exp(x - max).
Tensor log_softmax(Arg x, int64_t axis = -1, DType dtype = DType::Void);
/// log sum exp(x) over the axes, without overflow; keepdim keeps them with size 1. -inf if all elements are.
Tensor logsumexp(Arg x, Axes axes = all_axes, bool keepdim = false);
/// (x - mean) / sqrt(var + eps) over the last axes, whose sizes are `normalized`; then * weight + bias if given, both
/// of that shape. var is the mean squared deviation. Ba, Kiros and Hinton, 2016.
Tensor layer_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean of squares + eps) over the last axes, whose sizes are `normalized`; then * weight if given. The
/// default eps is the machine epsilon of the compute type: float32's for 16-bit floats. Zhang and Sennrich, NeurIPS
/// 2019.
Tensor rms_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, std::optional<double> eps = {});
/// x: [n, channels, ...]. Channels are divided into groups; each group is normalized together with the axes after the
/// channels. weight and bias: [channels]. Wu and He, ECCV 2018.
Tensor group_norm(Arg x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x: [n, channels, ...]: (x - mean) / sqrt(variance + eps) * weight + bias, each [channels]. With empty mean and
/// variance, those of x over all other axes are used, as in training. Ioffe and Szegedy, ICML 2015.
Tensor batch_norm(Arg x, const Tensor& mean, const Tensor& variance, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// PyTorch's function has its mode here. In this one empty statistics mean training.
template <std::same_as<bool> Training>
Tensor batch_norm(Arg, const Tensor&, const Tensor&, const Tensor&, const Tensor&, Training, double = 0,
                  double = 0) = delete;
/// x: [n, channels, ...]: each channel of each n is normalized by its own mean and variance; then * weight + bias, each
/// [channels]. Ulyanov, Vedaldi and Lempitsky, 2016.
Tensor instance_norm(Arg x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x / (k + alpha * mean of squares)^beta, the mean over a window of `size` channels around each, with zeros beyond the
/// ends. x: [n, channels, ...]. Krizhevsky, Sutskever and Hinton, NeurIPS 2012.
Tensor local_response_norm(Arg x, int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1.0);
/// @}

}  // namespace sinter::inline v0
