// Layers without parameters that slide a window over an image or resample it: include/sinter/pooling.h, resampling.h
// and the windows of conv.h with fixed options. Names are PyTorch's.
#pragma once

#include <utility>

#include "sinter/nn/module.h"
#include "sinter/pooling.h"
#include "sinter/resampling.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// What layers with a fixed window have.
template <class Options>
struct WindowLayer {
  /// For the layers.
  explicit WindowLayer(PerAxis kernel, Options options = {}) : kernel(std::move(kernel)), options(std::move(options)) {}
  PerAxis kernel;
  Options options;
  SINTER_EMPTY_MODULE()
};

/// max_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct MaxPool1d : WindowLayer<MaxPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// max_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct MaxPool2d : WindowLayer<MaxPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// max_pool3d() with a fixed window. x: [n, channels, d, h, w] or [channels, d, h, w].
struct MaxPool3d : WindowLayer<MaxPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// max_unpool1d() with a fixed window. x: [n, channels, windows] or [channels, windows]. A size given at the call
/// counts before options.output_size.
struct MaxUnpool1d : WindowLayer<MaxUnpoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size = {},
                    Loc where = Loc::current()) const;
};

/// max_unpool2d() with a fixed window, as MaxUnpool1d. x: [n, channels, windows, windows] or the same without n.
struct MaxUnpool2d : WindowLayer<MaxUnpoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size = {},
                    Loc where = Loc::current()) const;
};

/// max_unpool3d() with a fixed window, as MaxUnpool1d. x: [n, channels, windows, windows, windows] or the same without
/// n.
struct MaxUnpool3d : WindowLayer<MaxUnpoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size = {},
                    Loc where = Loc::current()) const;
};

/// avg_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct AvgPool1d : WindowLayer<AvgPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// avg_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct AvgPool2d : WindowLayer<AvgPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// avg_pool3d() with a fixed window. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AvgPool3d : WindowLayer<AvgPoolOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// lp_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct LPPool1d : WindowLayer<LpPoolOptions> {
  LPPool1d(double norm_type, PerAxis kernel, LpPoolOptions options = {})
      : WindowLayer(std::move(kernel), std::move(options)), norm_type(norm_type) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double norm_type;
};

/// lp_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct LPPool2d : WindowLayer<LpPoolOptions> {
  LPPool2d(double norm_type, PerAxis kernel, LpPoolOptions options = {})
      : WindowLayer(std::move(kernel), std::move(options)), norm_type(norm_type) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double norm_type;
};

/// What layers of adaptive pooling have.
struct AdaptiveLayer {
  explicit AdaptiveLayer(AdaptiveSize size) : size(std::move(size)) {}  ///< for the layers
  AdaptiveSize size;
  SINTER_EMPTY_MODULE()
};

/// adaptive_avg_pool1d() to a fixed size. x: [n, channels, length] or [channels, length].
struct AdaptiveAvgPool1d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// adaptive_avg_pool2d() to a fixed size. x: [n, channels, h, w] or [channels, h, w].
struct AdaptiveAvgPool2d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// adaptive_avg_pool3d() to a fixed size. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AdaptiveAvgPool3d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// adaptive_max_pool1d() to a fixed size. x: [n, channels, length] or [channels, length].
struct AdaptiveMaxPool1d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// adaptive_max_pool2d() to a fixed size. x: [n, channels, h, w] or [channels, h, w].
struct AdaptiveMaxPool2d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// adaptive_max_pool3d() to a fixed size. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AdaptiveMaxPool3d : AdaptiveLayer {
  using AdaptiveLayer::AdaptiveLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// interpolate() with fixed options.
struct Upsample {
  explicit Upsample(InterpolateOptions options) : options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  InterpolateOptions options;
  SINTER_EMPTY_MODULE()
};

/// pixel_shuffle() by a fixed factor.
struct PixelShuffle {
  explicit PixelShuffle(int64_t upscale_factor) : upscale_factor(upscale_factor) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t upscale_factor;
  SINTER_EMPTY_MODULE()
};

/// pixel_unshuffle() by a fixed factor.
struct PixelUnshuffle {
  explicit PixelUnshuffle(int64_t downscale_factor) : downscale_factor(downscale_factor) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t downscale_factor;
  SINTER_EMPTY_MODULE()
};

/// channel_shuffle() by a fixed number of groups.
struct ChannelShuffle {
  explicit ChannelShuffle(int64_t groups) : groups(groups) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t groups;
  SINTER_EMPTY_MODULE()
};

/// unfold() with a fixed window.
struct Unfold : WindowLayer<UnfoldOptions> {
  using WindowLayer::WindowLayer;
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// fold() to a fixed size.
struct Fold {
  Fold(PerAxis size, PerAxis kernel, UnfoldOptions options = {})
      : size(std::move(size)), kernel(std::move(kernel)), options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  PerAxis size;
  PerAxis kernel;
  UnfoldOptions options;
  SINTER_EMPTY_MODULE()
};

/// local_response_norm() with fixed numbers.
struct LocalResponseNorm {
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1.0)
      : size(size), alpha(alpha), beta(beta), k(k) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t size;
  double alpha, beta, k;
  SINTER_EMPTY_MODULE()
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
