// The layers of include/sinter/nn/layers.h, written in the public tensor API.
#include "sinter/nn/layers.h"

#include <fmt/core.h>

#include <cmath>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {

Linear::Linear(int64_t in, int64_t out, bool with_bias, Loc where) {
  const tensor::OuterCall call("Linear", where);
  require_size("Linear: in", in, where);
  require_size("Linear: out", out, where);
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight = init::uniform({out, in}, -bound, bound).requires_grad();
  if (with_bias) bias = init::uniform({out}, -bound, bound).requires_grad();
}

Tensor Linear::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Linear", where);
  require_last(x, {weight.shape()[1]}, "Linear");
  return linear(x, weight, bias);
}

LayerNorm::LayerNorm(Shape shape, LayerNormOptions options, Loc where) : shape(std::move(shape)), eps(options.eps) {
  const tensor::OuterCall call("LayerNorm", where);
  if (!options.elementwise_affine) return;
  weight = ones(this->shape).requires_grad();
  if (options.bias) bias = zeros(this->shape).requires_grad();
}

Tensor LayerNorm::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LayerNorm", where);
  require_last(x, shape, "LayerNorm");
  return layer_norm(x, shape, weight, bias, eps);
}

Dropout::Dropout(double p, Loc where) : p(p) { require_probability("Dropout", p, where); }

Tensor Dropout::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Dropout", where);
  return !training || p == 0 ? x : dropout(x, p);
}

Tensor ReLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ReLU", where);
  return relu(x);
}

Tensor Flatten::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Flatten", where);
  return x.flatten(1);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
