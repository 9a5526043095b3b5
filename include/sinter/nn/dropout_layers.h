// Dropout of channels, and that which keeps mean and variance, as layers. Dropout of elements is in layers.h.
#pragma once

#include <string_view>

#include "sinter/dropout.h"
#include "sinter/nn/function_layer.h"

namespace sinter::inline v0::nn {

/// p, for the layers. UsageError of `layer` unless it is in [0, 1].
double checked_probability(std::string_view layer, double p, Loc where);

/// A function that drops elements or channels, in training. Draws from the default generator.
template <CallName name, Tensor (*function)(Arg, double, bool, Generator*)>
struct DropoutLayer {
  explicit DropoutLayer(double p = 0.5, Loc where = Loc::current()) : p(checked_probability(name.text, p, where)) {}
  SINTER_LAYER_CALL(name.text, function(x, p, training, nullptr))
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};

/// dropout1d(): drops channels of [n, channels, l] or [channels, l].
struct Dropout1d : DropoutLayer<"Dropout1d", dropout1d> {
  using DropoutLayer::DropoutLayer;
};
/// dropout2d(): drops channels of [n, channels, h, w].
struct Dropout2d : DropoutLayer<"Dropout2d", dropout2d> {
  using DropoutLayer::DropoutLayer;
};
/// dropout3d(): drops channels of [n, channels, d, h, w] or [channels, d, h, w].
struct Dropout3d : DropoutLayer<"Dropout3d", dropout3d> {
  using DropoutLayer::DropoutLayer;
};
/// alpha_dropout(): drops elements, for networks of SELU layers.
struct AlphaDropout : DropoutLayer<"AlphaDropout", alpha_dropout> {
  using DropoutLayer::DropoutLayer;
};
/// feature_alpha_dropout(): drops channels of [n, channels, ...], for networks of SELU layers.
struct FeatureAlphaDropout : DropoutLayer<"FeatureAlphaDropout", feature_alpha_dropout> {
  using DropoutLayer::DropoutLayer;
};

}  // namespace sinter::inline v0::nn
