// The layers of include/sinter/nn/norm.h.
#include "sinter/nn/norm.h"

#include <fmt/core.h>

#include <algorithm>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

/// All axes, without that of channels.
Axes all_but_channels(const Tensor& x) {
  std::vector<int64_t> axes{0};
  for (int64_t a = 2; a < x.rank(); ++a) axes.push_back(a);
  return axes;
}
Axes after_channels(const Tensor& x) {
  std::vector<int64_t> axes;
  for (int64_t a = 2; a < x.rank(); ++a) axes.push_back(a);
  return axes;
}

/// The elements of a channel in one sample.
int64_t spatial_size(const Tensor& x) {
  int64_t size = 1;
  for (int64_t a = 2; a < x.rank(); ++a) size *= x.shape()[static_cast<size_t>(a)].value();
  return size;
}

/// Refuses to train on `values` per channel unless they have a variance.
void require_variance(const char* layer, const Tensor& x, std::string_view of, int64_t values) {
  if (values < 2)
    refuse(
        fmt::format("values per channel{} in the input of {}, of shape {}: {}; a variance needs at least 2: give "
                    "more, or call nn::eval",
                    of, layer, to_string(x.shape()), values));
}

/// Assigns the next version of a running statistic. `share`: a double, or a scalar tensor.
template <class Share>
void update_running(Tensor running, const Tensor& batch, const Share& share) {
  running.assign(running * (1.0 - share) + batch.detach().to(running.dtype()) * share);
}

/// Refuses x unless it has `channels` at axis 1, and as many axes as `layout` names.
void require_layout(const char* layer, const Tensor& x, int64_t channels, std::initializer_list<int64_t> ranks,
                    std::string_view layout) {
  const bool ranked = std::find(ranks.begin(), ranks.end(), x.rank()) != ranks.end();
  if (!ranked || !(x.shape()[1] == channels))
    refuse(fmt::format("the input of {} has shape {}; give {}", layer, to_string(x.shape()),
                       fmt::format(fmt::runtime(layout), channels)));
}

BatchNormOptions running_options(const InstanceNormOptions& o) {
  return {.eps = o.eps, .momentum = o.momentum, .affine = o.affine, .track_running_stats = o.track_running_stats};
}

}  // namespace

RunningNorm::RunningNorm(const char* layer, int64_t channels, BatchNormOptions options, Loc where)
    : options(options), channels(channels) {
  const tensor::OuterCall call(layer, where);
  require_size(fmt::format("{}: channels", layer), channels, where);
  if (options.affine) {
    weight = ones({channels}).requires_grad();
    bias = zeros({channels}).requires_grad();
  }
  if (!options.track_running_stats) return;
  // Stored from the start: a constant in the first step would need a plan of its own.
  running_mean = from(std::vector<float>(static_cast<size_t>(channels), 0.0f));
  running_var = from(std::vector<float>(static_cast<size_t>(channels), 1.0f));
  if (!options.momentum) num_batches_tracked = from(std::vector<int64_t>{0}, Shape{});
}

void RunningNorm::track(const Tensor& mean, const Tensor& variance) const {
  if (options.momentum) {
    update_running(running_mean, mean, *options.momentum);
    update_running(running_var, variance, *options.momentum);
    return;
  }
  Tensor count = num_batches_tracked;
  count += 1;
  const Tensor share = 1.0 / count.to(running_mean.dtype());
  update_running(running_mean, mean, share);
  update_running(running_var, variance, share);
}

Tensor RunningNorm::batch_normalized(const char* layer, const Tensor& x) const {
  if (!training && running_mean.defined()) return batch_norm(x, running_mean, running_var, weight, bias, options.eps);
  if (training) require_variance(layer, x, "", x.numel() / channels);
  if (training && running_mean.defined()) {
    no_grad guard;
    const Tensor wide = x.to(promote(x.dtype(), running_mean.dtype()));  // float16 cannot hold large variances
    track(wide.mean(all_but_channels(x)), wide.var(all_but_channels(x), 1));
  }
  return batch_norm(x, {}, {}, weight, bias, options.eps);
}

Tensor RunningNorm::instance_normalized(const char* layer, const Tensor& given, int64_t spatial_axes,
                                        std::string_view layout, Loc where) const {
  const tensor::OuterCall call(layer, where);
  const bool one_sample = given.rank() == spatial_axes + 1;
  const Tensor x = one_sample ? given.unsqueeze(0) : given;  // instance_norm() takes a batch
  require_layout(layer, x, channels, {spatial_axes + 2}, layout);
  if (training) require_variance(layer, x, " of a sample", spatial_size(x));
  if (training && running_mean.defined() && x.numel()) {
    no_grad guard;
    const Tensor wide = x.to(promote(x.dtype(), running_mean.dtype()));
    track(wide.mean(all_but_channels(x)), wide.var(after_channels(x), 1).mean(0));
  }
  const Tensor y = !training && running_mean.defined()
                       ? batch_norm(x, running_mean, running_var, weight, bias, options.eps)
                       : instance_norm(x, weight, bias, options.eps);
  return one_sample ? y.squeeze(0) : y;
}

BatchNorm1d::BatchNorm1d(int64_t channels, BatchNormOptions options, Loc where)
    : RunningNorm("BatchNorm1d", channels, options, where) {}

Tensor BatchNorm1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("BatchNorm1d", where);
  require_layout("BatchNorm1d", x, channels, {2, 3}, "[n, {0}] or [n, {0}, length]");
  return batch_normalized("BatchNorm1d", x);
}

BatchNorm2d::BatchNorm2d(int64_t channels, BatchNormOptions options, Loc where)
    : RunningNorm("BatchNorm2d", channels, options, where) {}

Tensor BatchNorm2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("BatchNorm2d", where);
  require_layout("BatchNorm2d", x, channels, {4}, "[n, {0}, h, w]");
  return batch_normalized("BatchNorm2d", x);
}

BatchNorm3d::BatchNorm3d(int64_t channels, BatchNormOptions options, Loc where)
    : RunningNorm("BatchNorm3d", channels, options, where) {}

Tensor BatchNorm3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("BatchNorm3d", where);
  require_layout("BatchNorm3d", x, channels, {5}, "[n, {0}, d, h, w]");
  return batch_normalized("BatchNorm3d", x);
}

InstanceNorm1d::InstanceNorm1d(int64_t channels, InstanceNormOptions options, Loc where)
    : RunningNorm("InstanceNorm1d", channels, running_options(options), where) {}

Tensor InstanceNorm1d::operator()(const Tensor& x, Loc where) const {
  return instance_normalized("InstanceNorm1d", x, 1, "[n, {0}, length] or [{0}, length]", where);
}

InstanceNorm2d::InstanceNorm2d(int64_t channels, InstanceNormOptions options, Loc where)
    : RunningNorm("InstanceNorm2d", channels, running_options(options), where) {}

Tensor InstanceNorm2d::operator()(const Tensor& x, Loc where) const {
  return instance_normalized("InstanceNorm2d", x, 2, "[n, {0}, h, w] or [{0}, h, w]", where);
}

InstanceNorm3d::InstanceNorm3d(int64_t channels, InstanceNormOptions options, Loc where)
    : RunningNorm("InstanceNorm3d", channels, running_options(options), where) {}

Tensor InstanceNorm3d::operator()(const Tensor& x, Loc where) const {
  return instance_normalized("InstanceNorm3d", x, 3, "[n, {0}, d, h, w] or [{0}, d, h, w]", where);
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, GroupNormOptions options, Loc where)
    : groups(groups), eps(options.eps) {
  const tensor::OuterCall call("GroupNorm", where);
  require_size("GroupNorm: groups", groups, where);
  require_size("GroupNorm: channels", channels, where);
  if (channels % groups)
    throw UsageError(
        fmt::format("GroupNorm: {} channels do not fall into {} groups; choose a divisor", channels, groups), where);
  if (!options.affine) return;
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
