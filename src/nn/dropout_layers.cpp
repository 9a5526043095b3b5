// The layers of include/sinter/nn/dropout_layers.h.
#include "sinter/nn/dropout_layers.h"

#include "nn/layer_checks.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {

Dropout1d::Dropout1d(double p, Loc where) : p(p) { require_probability("Dropout1d", p, where); }
Tensor Dropout1d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Dropout1d", where);
  return dropout1d(x, p, training);
}
Dropout2d::Dropout2d(double p, Loc where) : p(p) { require_probability("Dropout2d", p, where); }
Tensor Dropout2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Dropout2d", where);
  return dropout2d(x, p, training);
}
Dropout3d::Dropout3d(double p, Loc where) : p(p) { require_probability("Dropout3d", p, where); }
Tensor Dropout3d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Dropout3d", where);
  return dropout3d(x, p, training);
}
AlphaDropout::AlphaDropout(double p, Loc where) : p(p) { require_probability("AlphaDropout", p, where); }
Tensor AlphaDropout::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("AlphaDropout", where);
  return alpha_dropout(x, p, training);
}
FeatureAlphaDropout::FeatureAlphaDropout(double p, Loc where) : p(p) {
  require_probability("FeatureAlphaDropout", p, where);
}
Tensor FeatureAlphaDropout::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("FeatureAlphaDropout", where);
  return feature_alpha_dropout(x, p, training);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
