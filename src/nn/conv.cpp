// The layers of include/sinter/nn/conv.h.
#include "sinter/nn/conv.h"

#include <fmt/core.h>

#include <cmath>

#include "nn/layer_checks.h"
#include "sinter/nn/init.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

/// Weights with a window of `axes` axes. Weight and bias share one uniform bound: PyTorch's kaiming_uniform with a =
/// sqrt(5).
void make_weights(std::string_view layer, size_t axes, int64_t in, int64_t out, const PerAxis& kernel,
                  const ConvOptions& options, bool with_bias, Tensor& weight, Tensor& bias, Loc where) {
  require_size(fmt::format("{}: in", layer), in, where);
  require_size(fmt::format("{}: out", layer), out, where);
  if (options.groups < 1 || in % options.groups || out % options.groups)
    throw UsageError(fmt::format("{}: {} channels in and {} out do not fall into {} groups; choose a divisor of both",
                                 layer, in, out, options.groups),
                     where);
  std::vector<int64_t> sizes = kernel.numbers();
  if (sizes.size() == 1) sizes.resize(axes, sizes[0]);
  if (sizes.size() != axes)
    throw UsageError(fmt::format("{}: {} sizes of a kernel with {} axes; give one number, or one for each", layer,
                                 sizes.size(), axes),
                     where);
  Shape shape{out, in / options.groups};
  auto fan_in = static_cast<double>(in / options.groups);
  for (int64_t k : sizes) {
    require_size(fmt::format("{}: kernel", layer), k, where);
    shape.push_back(k);
    fan_in *= static_cast<double>(k);
  }
  const double bound = 1.0 / std::sqrt(fan_in);
  weight = init::uniform(shape, -bound, bound).requires_grad();
  if (with_bias) bias = init::uniform({out}, -bound, bound).requires_grad();
}

}  // namespace

Conv1d::Conv1d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options, bool with_bias, Loc where)
    : options(options) {
  const tensor::OuterCall call("Conv1d", where);
  make_weights("Conv1d", 1, in, out, kernel, options, with_bias, weight, bias, where);
}

Tensor Conv1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Conv1d", where);
  return conv1d(x, weight, bias, options);
}

Conv2d::Conv2d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options, bool with_bias, Loc where)
    : options(options) {
  const tensor::OuterCall call("Conv2d", where);
  make_weights("Conv2d", 2, in, out, kernel, options, with_bias, weight, bias, where);
}

Tensor Conv2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Conv2d", where);
  return conv2d(x, weight, bias, options);
}

Tensor MaxPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("MaxPool2d", where);
  return max_pool2d(x, kernel, options);
}

Tensor AvgPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AvgPool2d", where);
  return avg_pool2d(x, kernel, options);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
