// The layers of include/sinter/nn/norm.h.
#include "sinter/nn/norm.h"

#include <fmt/core.h>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

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
  for (int64_t a = 2; a < x.rank(); ++a) size *= x.shape()[a].value();
  return size;
}

/// Refuses to train on `values` per channel unless they have a variance.
void require_variance(const char* layer, const Tensor& x, std::string_view of, int64_t values) {
  if (values < 2)
    usage_error(
        "values per channel{} in the input of {}, of shape {}: {}; a variance needs at least 2: give "
        "more, or call nn::eval",
        of, layer, to_string(x.shape()), values);
}

/// Assigns the next version of a running statistic. `share`: a double, or a scalar tensor.
template <class Share>
void update_running(Tensor running, const Tensor& batch, const Share& share) {
  running.assign(running * (1.0 - share) + batch.detach().to(running.dtype()) * share);
}

/// What stands behind the channels, by the number of these axes less 1.
constexpr const char* kSpatialAxes[] = {"length", "h, w", "d, h, w"};

/// Refuses x unless it is [n, channels, ...], with so many axes behind the channels. `layout` describes what is given.
void require_layout(const char* layer, const Tensor& x, int64_t channels, size_t axes, const std::string& layout) {
  if (x.rank() != static_cast<int64_t>(axes) + 2 || !(x.shape()[1] == channels))
    usage_error("the input of {} has shape {}; give {}", layer, to_string(x.shape()), layout);
}

}  // namespace

RunningNorm::RunningNorm(const char* layer, int64_t channels, BatchNormOptions options, Loc where)
    : options(options), channels(channels) {
  const OuterCall call(layer, where);
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

Tensor RunningNorm::batch_normalized(const char* layer, size_t axes, const Tensor& x, Loc where) const {
  const OuterCall call(layer, where);
  const std::string flat = axes == 1 ? fmt::format("[n, {}] or ", channels) : "";
  require_layout(layer, x, channels, axes == 1 && x.rank() == 2 ? 0 : axes,
                 fmt::format("{}[n, {}, {}]", flat, channels, kSpatialAxes[axes - 1]));
  if (!training && running_mean.defined()) return batch_norm(x, running_mean, running_var, weight, bias, options.eps);
  if (training) require_variance(layer, x, "", x.numel() / channels);
  if (training && running_mean.defined()) {
    no_grad guard;
    const Tensor wide = x.to(promote(x.dtype(), running_mean.dtype()));  // float16 cannot hold large variances
    track(wide.mean(all_but_channels(x)), wide.var(all_but_channels(x), 1));
  }
  return batch_norm(x, {}, {}, weight, bias, options.eps);
}

Tensor RunningNorm::instance_normalized(const char* layer, size_t axes, const Tensor& given, Loc where) const {
  const OuterCall call(layer, where);
  const bool one_sample = given.rank() == static_cast<int64_t>(axes) + 1;
  const Tensor x = one_sample ? given.unsqueeze(0) : given;  // instance_norm() takes a batch
  require_layout(layer, x, channels, axes,
                 fmt::format("[n, {0}, {1}] or [{0}, {1}]", channels, kSpatialAxes[axes - 1]));
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

GroupNorm::GroupNorm(int64_t groups, int64_t channels, GroupNormOptions options, Loc where)
    : groups(groups), eps(options.eps) {
  const OuterCall call("GroupNorm", where);
  require_size("GroupNorm: groups", groups, where);
  require_size("GroupNorm: channels", channels, where);
  if (channels % groups)
    usage_error_at(where, "GroupNorm: {} channels do not fall into {} groups; choose a divisor", channels, groups);
  if (!options.affine) return;
  weight = ones({channels}).requires_grad();
  bias = zeros({channels}).requires_grad();
}

RMSNorm::RMSNorm(Shape shape, std::optional<double> eps, Loc where) : eps(eps) {
  const OuterCall call("RMSNorm", where);
  weight = ones(shape).requires_grad();
}

Tensor RMSNorm::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("RMSNorm", where);
  require_last(x, weight.shape(), "RMSNorm");
  return rms_norm(x, weight.shape(), weight, eps);
}

}  // namespace sinter::inline v0::nn
