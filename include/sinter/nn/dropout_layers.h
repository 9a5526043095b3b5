// Dropout of channels, and that which keeps mean and variance, as layers. Dropout of elements is in layers.h.
#pragma once

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// dropout1d() in training: drops channels of [n, channels, l] or [channels, l]. Draws from the default generator.
struct Dropout1d {
  explicit Dropout1d(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};
/// dropout2d() in training: drops channels of [n, channels, h, w]. Draws from the default generator.
struct Dropout2d {
  explicit Dropout2d(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};
/// dropout3d() in training: drops channels of [n, channels, d, h, w] or [channels, d, h, w]. Draws from the default
/// generator.
struct Dropout3d {
  explicit Dropout3d(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};
/// alpha_dropout() in training: drops elements, for networks of SELU layers. Draws from the default generator.
struct AlphaDropout {
  explicit AlphaDropout(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};
/// feature_alpha_dropout() in training: drops channels of [n, channels, ...], for networks of SELU layers. Draws from
/// the default generator.
struct FeatureAlphaDropout {
  explicit FeatureAlphaDropout(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
