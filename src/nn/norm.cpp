// The layers of include/sinter/nn/norm.h.
#include "sinter/nn/norm.h"

#include <fmt/core.h>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

Axes all_but_channels() { return {0, 2, 3}; }

/// Assigns the next version of a running statistic.
void update_running(Tensor running, const Tensor& batch, double momentum) {
  running.assign(running * (1.0 - momentum) + batch.detach().to(running.dtype()) * momentum);
}

}  // namespace

BatchNorm2d::BatchNorm2d(int64_t channels, BatchNormOptions options, Loc where) : options(options) {
  const tensor::OuterCall call("BatchNorm2d", where);
  require_size("BatchNorm2d: channels", channels, where);
  if (options.affine) {
    weight = ones({channels}).requires_grad();
    bias = zeros({channels}).requires_grad();
  }
  // Stored from the start: a constant in the first step would need a plan of its own.
  running_mean = from(std::vector<float>(static_cast<size_t>(channels), 0.0f));
  running_var = from(std::vector<float>(static_cast<size_t>(channels), 1.0f));
}

Tensor BatchNorm2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("BatchNorm2d", where);
  const Dim channels = running_mean.shape()[0];
  if (x.rank() != 4 || !(x.shape()[1] == channels))
    refuse(fmt::format("the input of BatchNorm2d has shape {}; give [n, {}, h, w]", to_string(x.shape()),
                       to_string(channels)));
  if (!training) return batch_norm(x, running_mean, running_var, weight, bias, options.eps);
  if (const int64_t values = x.numel() / channels.value(); values < 2)
    refuse(
        fmt::format("values per channel in the input of BatchNorm2d, of shape {}: {}; a variance needs at least 2: "
                    "give more, or call nn::eval",
                    to_string(x.shape()), values));
  {
    no_grad guard;
    const Tensor wide = x.to(promote(x.dtype(), running_mean.dtype()));  // float16 cannot hold large variances
    update_running(running_mean, wide.mean(all_but_channels()), options.momentum);
    update_running(running_var, wide.var(all_but_channels(), 1), options.momentum);
  }
  return batch_norm(x, {}, {}, weight, bias, options.eps);
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, double eps, Loc where) : groups(groups), eps(eps) {
  const tensor::OuterCall call("GroupNorm", where);
  require_size("GroupNorm: groups", groups, where);
  require_size("GroupNorm: channels", channels, where);
  if (channels % groups)
    throw UsageError(
        fmt::format("GroupNorm: {} channels do not fall into {} groups; choose a divisor", channels, groups), where);
  weight = ones({channels}).requires_grad();
  bias = zeros({channels}).requires_grad();
}

Tensor GroupNorm::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("GroupNorm", where);
  return group_norm(x, groups, weight, bias, eps);
}

RMSNorm::RMSNorm(Shape shape, std::optional<double> eps, Loc where) : eps(eps) {
  const tensor::OuterCall call("RMSNorm", where);
  weight = ones(shape).requires_grad();
}

Tensor RMSNorm::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("RMSNorm", where);
  require_last(x, weight.shape(), "RMSNorm");
  return rms_norm(x, weight.shape(), weight, eps);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
