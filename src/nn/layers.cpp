// The layers of include/sinter/nn/layers.h, written in the public tensor API.
#include "sinter/nn/layers.h"

#include <fmt/core.h>

#include <cmath>

#include "nn/layer_checks.h"
#include "nn/linear_product.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "sinter/random.h"
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

Embedding::Embedding(int64_t count, int64_t size, Loc where) {
  const tensor::OuterCall call("Embedding", where);
  require_size("Embedding: count", count, where);
  require_size("Embedding: size", size, where);
  weight = init::normal({count, size}).requires_grad();
}

Tensor Embedding::operator()(const Tensor& index, Loc where) const {
  const tensor::OuterCall call("Embedding", where);
  return embedding(index, weight);
}

LayerNorm::LayerNorm(Shape shape, double eps, Loc where) : eps(eps) {
  const tensor::OuterCall call("LayerNorm", where);
  weight = ones(shape).requires_grad();
  bias = zeros(shape).requires_grad();
}

Tensor LayerNorm::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LayerNorm", where);
  require_last(x, weight.shape(), "LayerNorm");
  return layer_norm(x, weight.shape(), weight, bias, eps);
}

Dropout::Dropout(double p, Loc where) : p(p) {
  if (!(p >= 0 && p <= 1))
    throw UsageError(fmt::format("Dropout: p is {}; give the probability that an element becomes zero, in [0, 1]", p),
                     where);
}

Tensor Dropout::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Dropout", where);
  if (!training || p == 0) return x;
  return sinter::where(bernoulli(p, x.shape(), {.device = x.device()}), 0.0, x * (p < 1 ? 1.0 / (1.0 - p) : 0.0));
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
