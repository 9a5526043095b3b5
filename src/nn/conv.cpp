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

/// Weights with a window of `axes` axes: [out, in / groups, ...], transposed [in, out / groups, ...]. Weight and bias
/// share one uniform bound: PyTorch's kaiming_uniform with a = sqrt(5).
void make_weights(std::string_view layer, size_t axes, int64_t in, int64_t out, const PerAxis& kernel, int64_t groups,
                  bool transposed, bool with_bias, Tensor& weight, Tensor& bias, Loc where) {
  require_size(fmt::format("{}: in", layer), in, where);
  require_size(fmt::format("{}: out", layer), out, where);
  if (groups < 1 || in % groups || out % groups)
    throw UsageError(fmt::format("{}: {} channels in and {} out do not fall into {} groups; choose a divisor of both",
                                 layer, in, out, groups),
                     where);
  std::vector<int64_t> sizes = kernel.numbers();
  if (sizes.size() == 1) sizes.resize(axes, sizes[0]);
  if (sizes.size() != axes)
    throw UsageError(fmt::format("{}: {} sizes of a kernel with {} axes; give one number, or one for each", layer,
                                 sizes.size(), axes),
                     where);
  const int64_t rows = transposed ? in : out, each = (transposed ? out : in) / groups;
  Shape shape{rows, each};
  auto fan_in = static_cast<double>(each);
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
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("Conv1d", where);
  make_weights("Conv1d", 1, in, out, kernel, options.groups, false, with_bias, weight, bias, where);
}

Tensor Conv1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Conv1d", where);
  return conv1d(x, weight, bias, options);
}

Conv2d::Conv2d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options, bool with_bias, Loc where)
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("Conv2d", where);
  make_weights("Conv2d", 2, in, out, kernel, options.groups, false, with_bias, weight, bias, where);
}

Tensor Conv2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Conv2d", where);
  return conv2d(x, weight, bias, options);
}

Conv3d::Conv3d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options, bool with_bias, Loc where)
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("Conv3d", where);
  make_weights("Conv3d", 3, in, out, kernel, options.groups, false, with_bias, weight, bias, where);
}

Tensor Conv3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Conv3d", where);
  return conv3d(x, weight, bias, options);
}

ConvTranspose1d::ConvTranspose1d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options, bool with_bias,
                                 Loc where)
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("ConvTranspose1d", where);
  make_weights("ConvTranspose1d", 1, in, out, kernel, options.groups, true, with_bias, weight, bias, where);
}

Tensor ConvTranspose1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ConvTranspose1d", where);
  return conv_transpose1d(x, weight, bias, options);
}

ConvTranspose2d::ConvTranspose2d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options, bool with_bias,
                                 Loc where)
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("ConvTranspose2d", where);
  make_weights("ConvTranspose2d", 2, in, out, kernel, options.groups, true, with_bias, weight, bias, where);
}

Tensor ConvTranspose2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ConvTranspose2d", where);
  return conv_transpose2d(x, weight, bias, options);
}

ConvTranspose3d::ConvTranspose3d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options, bool with_bias,
                                 Loc where)
    : ConvLayer{{}, {}, options} {
  const tensor::OuterCall call("ConvTranspose3d", where);
  make_weights("ConvTranspose3d", 3, in, out, kernel, options.groups, true, with_bias, weight, bias, where);
}

Tensor ConvTranspose3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ConvTranspose3d", where);
  return conv_transpose3d(x, weight, bias, options);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
