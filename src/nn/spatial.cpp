// The layers of include/sinter/nn/spatial.h.
#include "sinter/nn/spatial.h"

#include "sinter/normalization.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

MaxUnpoolOptions with_size(MaxUnpoolOptions options, const PerAxis& output_size) {
  if (!output_size.numbers().empty()) options.output_size = output_size;
  return options;
}

}  // namespace

Tensor MaxPool1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("MaxPool1d", where);
  return max_pool1d(x, kernel, options);
}

Tensor MaxPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("MaxPool2d", where);
  return max_pool2d(x, kernel, options);
}

Tensor MaxPool3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("MaxPool3d", where);
  return max_pool3d(x, kernel, options);
}

Tensor MaxUnpool1d::operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size, Loc where) const {
  const tensor::OuterCall call("MaxUnpool1d", where);
  return max_unpool1d(x, indices, kernel, with_size(options, output_size));
}

Tensor MaxUnpool2d::operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size, Loc where) const {
  const tensor::OuterCall call("MaxUnpool2d", where);
  return max_unpool2d(x, indices, kernel, with_size(options, output_size));
}

Tensor MaxUnpool3d::operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size, Loc where) const {
  const tensor::OuterCall call("MaxUnpool3d", where);
  return max_unpool3d(x, indices, kernel, with_size(options, output_size));
}

Tensor AvgPool1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AvgPool1d", where);
  return avg_pool1d(x, kernel, options);
}

Tensor AvgPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AvgPool2d", where);
  return avg_pool2d(x, kernel, options);
}

Tensor AvgPool3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AvgPool3d", where);
  return avg_pool3d(x, kernel, options);
}

Tensor LPPool1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LPPool1d", where);
  return lp_pool1d(x, norm_type, kernel, options);
}

Tensor LPPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LPPool2d", where);
  return lp_pool2d(x, norm_type, kernel, options);
}

Tensor AdaptiveAvgPool1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveAvgPool1d", where);
  return adaptive_avg_pool1d(x, size);
}

Tensor AdaptiveAvgPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveAvgPool2d", where);
  return adaptive_avg_pool2d(x, size);
}

Tensor AdaptiveAvgPool3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveAvgPool3d", where);
  return adaptive_avg_pool3d(x, size);
}

Tensor AdaptiveMaxPool1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveMaxPool1d", where);
  return adaptive_max_pool1d(x, size);
}

Tensor AdaptiveMaxPool2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveMaxPool2d", where);
  return adaptive_max_pool2d(x, size);
}

Tensor AdaptiveMaxPool3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AdaptiveMaxPool3d", where);
  return adaptive_max_pool3d(x, size);
}

Tensor Upsample::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Upsample", where);
  return interpolate(x, options);
}

Tensor PixelShuffle::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("PixelShuffle", where);
  return pixel_shuffle(x, upscale_factor);
}

Tensor PixelUnshuffle::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("PixelUnshuffle", where);
  return pixel_unshuffle(x, downscale_factor);
}

Tensor ChannelShuffle::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ChannelShuffle", where);
  return channel_shuffle(x, groups);
}

Tensor Unfold::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Unfold", where);
  return unfold(x, kernel, options);
}

Tensor Fold::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Fold", where);
  return fold(x, size, kernel, options);
}

Tensor LocalResponseNorm::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LocalResponseNorm", where);
  return local_response_norm(x, size, alpha, beta, k);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
