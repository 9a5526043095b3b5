// Layers without parameters that slide a window over an image or resample it: include/sinter/pooling.h, resampling.h
// and the windows of conv.h with fixed options. Names are PyTorch's.
#pragma once

#include <utility>

#include "sinter/conv.h"
#include "sinter/nn/function_layer.h"
#include "sinter/normalization.h"
#include "sinter/pooling.h"
#include "sinter/resampling.h"

namespace sinter::inline v0::nn {

/// A function of a tensor, a fixed window and options as a layer.
template <CallName name, class Options, Tensor (*function)(Arg, const PerAxis&, const Options&)>
struct WindowLayer {
  explicit WindowLayer(PerAxis kernel, Options options = {}) : kernel(std::move(kernel)), options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x, kernel, options);
  }
  PerAxis kernel;
  Options options;
  SINTER_EMPTY_MODULE()
};

/// The same of a pooling that also says where it found its elements, if asked for.
template <CallName name, Tensor (*function)(Arg, const PerAxis&, const MaxPoolOptions&),
          std::pair<Tensor, Tensor> (*with_indices)(Arg, const PerAxis&, const MaxPoolOptions&)>
struct MaxPoolLayer : WindowLayer<name, MaxPoolOptions, function> {
  using WindowLayer<name, MaxPoolOptions, function>::WindowLayer;
  /// The result and the indices, which MaxUnpool takes: what return_indices is in Python, by its name in libtorch.
  std::pair<Tensor, Tensor> forward_with_indices(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return with_indices(x, this->kernel, this->options);
  }
};

/// The inverse of a pooling with a fixed window as a layer. A size given at the call counts before options.output_size.
template <CallName name, Tensor (*function)(Arg, const Tensor&, const PerAxis&, const MaxUnpoolOptions&)>
struct UnpoolLayer {
  explicit UnpoolLayer(PerAxis kernel, MaxUnpoolOptions options = {})
      : kernel(std::move(kernel)), options(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& indices, const PerAxis& output_size = {},
                    Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    MaxUnpoolOptions sized = options;
    if (!output_size.numbers().empty()) sized.output_size = output_size;
    return function(x, indices, kernel, sized);
  }
  PerAxis kernel;
  MaxUnpoolOptions options;
  SINTER_EMPTY_MODULE()
};

/// lp_pool1d() or lp_pool2d() with a fixed window as a layer.
template <CallName name, Tensor (*function)(Arg, double, const PerAxis&, const LpPoolOptions&)>
struct LPPoolLayer {
  LPPoolLayer(double norm_type, PerAxis kernel, LpPoolOptions options = {})
      : norm_type(norm_type), kernel(std::move(kernel)), options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x, norm_type, kernel, options);
  }
  double norm_type;
  PerAxis kernel;
  LpPoolOptions options;
  SINTER_EMPTY_MODULE()
};

/// Adaptive pooling to a fixed size as a layer.
template <CallName name, Tensor (*function)(Arg, const AdaptiveSize&)>
struct AdaptiveLayer {
  explicit AdaptiveLayer(AdaptiveSize size) : size(std::move(size)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x, size);
  }
  AdaptiveSize size;
  SINTER_EMPTY_MODULE()
};

/// The same of the largest elements, which also says where it found them, if asked for.
template <CallName name, Tensor (*function)(Arg, const AdaptiveSize&),
          std::pair<Tensor, Tensor> (*with_indices)(Arg, const AdaptiveSize&)>
struct AdaptiveMaxLayer : AdaptiveLayer<name, function> {
  using AdaptiveLayer<name, function>::AdaptiveLayer;
  /// The result and the indices.
  std::pair<Tensor, Tensor> forward_with_indices(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return with_indices(x, this->size);
  }
};

/// max_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct MaxPool1d : MaxPoolLayer<"MaxPool1d", max_pool1d, max_pool1d_with_indices> {
  using MaxPoolLayer::MaxPoolLayer;
};

/// max_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct MaxPool2d : MaxPoolLayer<"MaxPool2d", max_pool2d, max_pool2d_with_indices> {
  using MaxPoolLayer::MaxPoolLayer;
};

/// max_pool3d() with a fixed window. x: [n, channels, d, h, w] or [channels, d, h, w].
struct MaxPool3d : MaxPoolLayer<"MaxPool3d", max_pool3d, max_pool3d_with_indices> {
  using MaxPoolLayer::MaxPoolLayer;
};

/// max_unpool1d() with a fixed window. x: [n, channels, windows] or [channels, windows].
struct MaxUnpool1d : UnpoolLayer<"MaxUnpool1d", max_unpool1d> {
  using UnpoolLayer::UnpoolLayer;
};

/// max_unpool2d() with a fixed window. x: [n, channels, windows, windows] or the same without n.
struct MaxUnpool2d : UnpoolLayer<"MaxUnpool2d", max_unpool2d> {
  using UnpoolLayer::UnpoolLayer;
};

/// max_unpool3d() with a fixed window. x: [n, channels, windows, windows, windows] or the same without n.
struct MaxUnpool3d : UnpoolLayer<"MaxUnpool3d", max_unpool3d> {
  using UnpoolLayer::UnpoolLayer;
};

/// avg_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct AvgPool1d : WindowLayer<"AvgPool1d", AvgPoolOptions, avg_pool1d> {
  using WindowLayer::WindowLayer;
};

/// avg_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct AvgPool2d : WindowLayer<"AvgPool2d", AvgPoolOptions, avg_pool2d> {
  using WindowLayer::WindowLayer;
};

/// avg_pool3d() with a fixed window. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AvgPool3d : WindowLayer<"AvgPool3d", AvgPoolOptions, avg_pool3d> {
  using WindowLayer::WindowLayer;
};

/// lp_pool1d() with a fixed window. x: [n, channels, length] or [channels, length].
struct LPPool1d : LPPoolLayer<"LPPool1d", lp_pool1d> {
  using LPPoolLayer::LPPoolLayer;
};

/// lp_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct LPPool2d : LPPoolLayer<"LPPool2d", lp_pool2d> {
  using LPPoolLayer::LPPoolLayer;
};

/// adaptive_avg_pool1d() to a fixed size. x: [n, channels, length] or [channels, length].
struct AdaptiveAvgPool1d : AdaptiveLayer<"AdaptiveAvgPool1d", adaptive_avg_pool1d> {
  using AdaptiveLayer::AdaptiveLayer;
};

/// adaptive_avg_pool2d() to a fixed size. x: [n, channels, h, w] or [channels, h, w].
struct AdaptiveAvgPool2d : AdaptiveLayer<"AdaptiveAvgPool2d", adaptive_avg_pool2d> {
  using AdaptiveLayer::AdaptiveLayer;
};

/// adaptive_avg_pool3d() to a fixed size. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AdaptiveAvgPool3d : AdaptiveLayer<"AdaptiveAvgPool3d", adaptive_avg_pool3d> {
  using AdaptiveLayer::AdaptiveLayer;
};

/// adaptive_max_pool1d() to a fixed size. x: [n, channels, length] or [channels, length].
struct AdaptiveMaxPool1d
    : AdaptiveMaxLayer<"AdaptiveMaxPool1d", adaptive_max_pool1d, adaptive_max_pool1d_with_indices> {
  using AdaptiveMaxLayer::AdaptiveMaxLayer;
};

/// adaptive_max_pool2d() to a fixed size. x: [n, channels, h, w] or [channels, h, w].
struct AdaptiveMaxPool2d
    : AdaptiveMaxLayer<"AdaptiveMaxPool2d", adaptive_max_pool2d, adaptive_max_pool2d_with_indices> {
  using AdaptiveMaxLayer::AdaptiveMaxLayer;
};

/// adaptive_max_pool3d() to a fixed size. x: [n, channels, d, h, w] or [channels, d, h, w].
struct AdaptiveMaxPool3d
    : AdaptiveMaxLayer<"AdaptiveMaxPool3d", adaptive_max_pool3d, adaptive_max_pool3d_with_indices> {
  using AdaptiveMaxLayer::AdaptiveMaxLayer;
};

/// interpolate() with fixed options.
struct Upsample {
  explicit Upsample(InterpolateOptions options) : options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("Upsample", where);
    return interpolate(x, options);
  }
  InterpolateOptions options;
  SINTER_EMPTY_MODULE()
};

/// pixel_shuffle() by a fixed factor.
struct PixelShuffle {
  explicit PixelShuffle(int64_t upscale_factor) : upscale_factor(upscale_factor) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("PixelShuffle", where);
    return pixel_shuffle(x, upscale_factor);
  }
  int64_t upscale_factor;
  SINTER_EMPTY_MODULE()
};

/// pixel_unshuffle() by a fixed factor.
struct PixelUnshuffle {
  explicit PixelUnshuffle(int64_t downscale_factor) : downscale_factor(downscale_factor) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("PixelUnshuffle", where);
    return pixel_unshuffle(x, downscale_factor);
  }
  int64_t downscale_factor;
  SINTER_EMPTY_MODULE()
};

/// channel_shuffle() by a fixed number of groups.
struct ChannelShuffle {
  explicit ChannelShuffle(int64_t groups) : groups(groups) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("ChannelShuffle", where);
    return channel_shuffle(x, groups);
  }
  int64_t groups;
  SINTER_EMPTY_MODULE()
};

/// unfold() with a fixed window.
struct Unfold : WindowLayer<"Unfold", UnfoldOptions, unfold> {
  using WindowLayer::WindowLayer;
};

/// fold() to a fixed size.
struct Fold {
  Fold(PerAxis size, PerAxis kernel, UnfoldOptions options = {})
      : size(std::move(size)), kernel(std::move(kernel)), options(std::move(options)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("Fold", where);
    return fold(x, size, kernel, options);
  }
  PerAxis size;
  PerAxis kernel;
  UnfoldOptions options;
  SINTER_EMPTY_MODULE()
};

/// local_response_norm() with fixed numbers.
struct LocalResponseNorm {
  explicit LocalResponseNorm(int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1.0)
      : size(size), alpha(alpha), beta(beta), k(k) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call("LocalResponseNorm", where);
    return local_response_norm(x, size, alpha, beta, k);
  }
  int64_t size;
  double alpha, beta, k;
  SINTER_EMPTY_MODULE()
};

}  // namespace sinter::inline v0::nn
