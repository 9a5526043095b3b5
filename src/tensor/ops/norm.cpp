// Normalization: (x - mean) / deviation, scaled and shifted.
#include <numeric>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/parameter.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

UOp scale_and_shift(UOp x, UOp weight, UOp bias) {
  if (weight) x = x * weight;
  return bias ? x + bias : x;
}

UOp standardize(UOp x, const Ints& axes, double eps) {
  UOp off = x - expand(mean_over(x, axes), x->shape, axes);
  UOp scale = 1.0 / sqrt(variance_over(x, axes, 0) + eps);
  return off * expand(scale, x->shape, axes);
}

/// The last axes of x, whose sizes must be `normalized`.
Ints last_axes(UOp x, const Shape& normalized) {
  bool fits = normalized.rank() > 0 && normalized.rank() <= x->rank();
  Ints axes;
  for (size_t i = 0; fits && i < normalized.rank(); ++i) {
    const size_t a = x->rank() - normalized.rank() + i;
    fits = normalized[i] == x->shape[a];
    axes.push_back(static_cast<int64_t>(a));
  }
  if (!fits)
    usage_error("{} does not end in the sizes {} that are to be normalized; give the last sizes of the tensor",
                describe(x), to_string(normalized));
  return axes;
}

/// The number of channels of [n, channels, ...].
int64_t channels_of(UOp x) {
  if (x->rank() < 2) usage_error("{} has no axis of channels; give [n, channels, ...]", describe(x));
  return fixed_size(x, 1, "an axis of channels");
}

}  // namespace

Tensor layer_norm(Arg input, const Shape& normalized, const Tensor& weight, const Tensor& bias, double eps) {
  Call call("layer_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const Ints axes = last_axes(given, normalized);
  const auto at = static_cast<size_t>(axes[0]);
  UOp w = broadcast_param(weight, "weight", x, normalized, at), b = broadcast_param(bias, "bias", x, normalized, at);
  return wrap(cast(scale_and_shift(standardize(x, axes, eps), w, b), given->dtype));
}

Tensor rms_norm(Arg input, const Shape& normalized, const Tensor& weight, std::optional<double> eps) {
  Call call("rms_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const Ints axes = last_axes(given, normalized);
  UOp w = broadcast_param(weight, "weight", x, normalized, static_cast<size_t>(axes[0]));
  UOp scale = 1.0 / sqrt(mean_over(x * x, axes) + eps.value_or(epsilon_of(x->dtype)));
  return wrap(cast(scale_and_shift(x * expand(scale, x->shape, axes), w, {}), given->dtype));
}

Tensor group_norm(Arg input, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  Call call("group_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const int64_t channels = channels_of(given);
  if (groups < 1 || channels % groups)
    usage_error("{} has {} channels, which {} groups do not divide; choose a divisor", describe(given), channels,
                groups);
  Shape parted{x->shape[0], groups, channels / groups};
  for (size_t i = 2; i < x->rank(); ++i) parted.push_back(x->shape[i]);
  Ints axes(parted.rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  UOp y = reshape(standardize(reshape(x, parted), axes, eps), x->shape);
  y = scale_and_shift(y, broadcast_param(weight, "weight", x, {channels}, 1),
                      broadcast_param(bias, "bias", x, {channels}, 1));
  return wrap(cast(y, given->dtype));
}

Tensor batch_norm(Arg input, const Tensor& mean, const Tensor& variance, const Tensor& weight, const Tensor& bias,
                  double eps) {
  Call call("batch_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const int64_t channels = channels_of(given);
  UOp w = broadcast_param(weight, "weight", x, {channels}, 1), b = broadcast_param(bias, "bias", x, {channels}, 1);
  UOp m = broadcast_param(mean, "mean", x, {channels}, 1), v = param_of(variance, "variance", x, {channels});
  if (!m != !v) usage_error("only a {} is given; give the mean and the variance, or neither", m ? "mean" : "variance");
  if (m) {  // one division for each channel
    UOp scale = broadcast_at(1.0 / sqrt(v + eps), x, 1);
    return wrap(cast(scale_and_shift((x - m) * scale, w, b), given->dtype));
  }
  Ints axes{0};
  for (size_t i = 2; i < x->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return wrap(cast(scale_and_shift(standardize(x, axes, eps), w, b), given->dtype));
}

Tensor instance_norm(Arg input, const Tensor& weight, const Tensor& bias, double eps) {
  Call call("instance_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const int64_t channels = channels_of(given);
  if (x->rank() < 3)
    usage_error("{} has {} axes, and none to normalize; give [n, channels, ...]", describe(given), x->rank());
  UOp w = broadcast_param(weight, "weight", x, {channels}, 1), b = broadcast_param(bias, "bias", x, {channels}, 1);
  Ints axes(x->rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return wrap(cast(scale_and_shift(standardize(x, axes, eps), w, b), given->dtype));
}

Tensor local_response_norm(Arg input, int64_t size, double alpha, double beta, double k) {
  Call call("local_response_norm", input.where());
  UOp given = float_operand(input), x = to_compute_type(given);
  const int64_t channels = channels_of(given);
  if (size < 1 || size > Shape::kMaxElements)
    usage_error("size is {}; {} needs a window of at least 1 of its {} channels", size, describe(given), channels);
  UOp squares = pad_axis(x * x, 1, size / 2, channels + size - 1);
  UOp sums = channels ? sum(window(squares, 1, size, 1, 1), {2}) : x;
  UOp base = sums * (alpha / static_cast<double>(size)) + k;
  return wrap(cast(x / alu(Op::Pow, {base, like(base, beta)}), given->dtype));
}

}  // namespace sinter::inline v0
