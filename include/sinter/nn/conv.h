// Convolution layers: include/sinter/conv.h with weights. Names and initial values are PyTorch's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sinter/conv.h"
#include "sinter/nn/function_layer.h"
#include "sinter/nn/spatial.h"

namespace sinter::inline v0::nn {

/// Options of Conv1d, Conv2d and Conv3d: those of conv1d() to conv3d(), and whether there is a bias.
struct ConvLayerOptions {
  ByName by_name{};  ///< no value
  PerAxis stride = 1;
  ConvPadding padding = 0;  ///< before and after
  PerAxis dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Choice<PadMode> padding_mode = PadMode::Constant;
  /// The function's.
  ConvOptions of_function() const {
    return {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups, .padding_mode = padding_mode};
  }
};
/// Options of ConvTranspose1d, ConvTranspose2d and ConvTranspose3d: as ConvLayerOptions.
struct ConvTransposeLayerOptions {
  ByName by_name{};  ///< no value
  PerAxis stride = 1;
  PerAxis padding = 0;         ///< elements dropped at both ends
  PerAxis output_padding = 0;  ///< elements more at the end
  int64_t groups = 1;
  bool bias = true;
  PerAxis dilation = 1;
  /// The function's.
  ConvTransposeOptions of_function() const {
    return {
        .stride = stride, .padding = padding, .output_padding = output_padding, .groups = groups, .dilation = dilation};
  }
};

/// What convolution layers have.
struct ConvWeights {
  Tensor weight, bias;  ///< bias may be an empty handle
  SINTER_MODULE(weight, bias)

 protected:
  /// weight: [out, in / groups, kernel..], transposed [in, out / groups, kernel..]; the kernel has so many axes.
  ConvWeights(const char* layer, size_t axes, int64_t in, int64_t out, const PerAxis& kernel, int64_t groups,
              bool transposed, bool with_bias, Loc where);
};

/// A convolution along so many axes as a layer.
template <CallName name, size_t axes, class LayerOptions, class Options,
          Tensor (*function)(Arg, const Tensor&, const Tensor&, const Options&)>
struct ConvLayer : ConvWeights {
  ConvLayer(int64_t in, int64_t out, const PerAxis& kernel, const LayerOptions& options = {},
            Loc where = Loc::current())
      : ConvWeights(name.text, axes, in, out, kernel, options.groups, std::same_as<Options, ConvTransposeOptions>,
                    options.bias, where),
        options(options.of_function()) {}
  SINTER_LAYER_CALL(name.text, function(x, weight, bias, options))
  Options options;
};

/// weight: [out, in / groups, kernel], bias: [out], both uniform in +-1/sqrt(in / groups * kernel). x: [n, in, length]
/// or [in, length].
struct Conv1d : ConvLayer<"Conv1d", 1, ConvLayerOptions, ConvOptions, conv1d> {
  using ConvLayer::ConvLayer;
};

/// weight: [out, in / groups, kh, kw], bias: [out], both uniform in +-1/sqrt(in / groups * kh * kw). x: [n, in, h, w]
/// or [in, h, w].
struct Conv2d : ConvLayer<"Conv2d", 2, ConvLayerOptions, ConvOptions, conv2d> {
  using ConvLayer::ConvLayer;
};

/// weight: [out, in / groups, kd, kh, kw], bias: [out], both uniform in +-1/sqrt(in / groups * kd * kh * kw). x: [n,
/// in, d, h, w] or [in, d, h, w].
struct Conv3d : ConvLayer<"Conv3d", 3, ConvLayerOptions, ConvOptions, conv3d> {
  using ConvLayer::ConvLayer;
};

/// conv_transpose1d(). weight: [in, out / groups, kernel], bias: [out], both uniform in +-1/sqrt(out / groups *
/// kernel). x: [n, in, length] or [in, length].
struct ConvTranspose1d
    : ConvLayer<"ConvTranspose1d", 1, ConvTransposeLayerOptions, ConvTransposeOptions, conv_transpose1d> {
  using ConvLayer::ConvLayer;
};

/// conv_transpose2d(). weight: [in, out / groups, kh, kw], bias: [out], both uniform in +-1/sqrt(out / groups * kh *
/// kw). x: [n, in, h, w] or [in, h, w].
struct ConvTranspose2d
    : ConvLayer<"ConvTranspose2d", 2, ConvTransposeLayerOptions, ConvTransposeOptions, conv_transpose2d> {
  using ConvLayer::ConvLayer;
};

/// conv_transpose3d(). weight: [in, out / groups, kd, kh, kw], bias: [out], both uniform in +-1/sqrt(out / groups * kd
/// * kh * kw). x: [n, in, d, h, w] or [in, d, h, w].
struct ConvTranspose3d
    : ConvLayer<"ConvTranspose3d", 3, ConvTransposeLayerOptions, ConvTransposeOptions, conv_transpose3d> {
  using ConvLayer::ConvLayer;
};

}  // namespace sinter::inline v0::nn
