// The layers of include/sinter/nn/layers.h, and of other headers what is more than a call of their function.
#include "sinter/nn/layers.h"

#include <cmath>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/activation_layers.h"
#include "sinter/nn/dropout_layers.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

Linear::Linear(int64_t in, int64_t out, bool with_bias, Loc where) {
  const OuterCall call("Linear", where);
  require_size("Linear: in", in, where);
  require_size("Linear: out", out, where);
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  weight = init::uniform({out, in}, -bound, bound).requires_grad();
  if (with_bias) bias = init::uniform({out}, -bound, bound).requires_grad();
}

Tensor Linear::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("Linear", where);
  require_last(x, {weight.shape()[1]}, "Linear");
  return linear(x, weight, bias);
}

LayerNorm::LayerNorm(Shape shape, LayerNormOptions options, Loc where) : shape(std::move(shape)), eps(options.eps) {
  const OuterCall call("LayerNorm", where);
  if (!options.elementwise_affine) return;
  weight = ones(this->shape).requires_grad();
  if (options.bias) bias = zeros(this->shape).requires_grad();
}

Tensor LayerNorm::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("LayerNorm", where);
  require_last(x, shape, "LayerNorm");
  return layer_norm(x, shape, weight, bias, eps);
}

double checked_probability(std::string_view layer, double p, Loc where) {
  if (p >= 0 && p <= 1) return p;
  usage_error_at(where, "{}: p is {}; give the probability that {} becomes zero, in [0, 1]", layer, p,
                 layer == "Dropout" || layer == "AlphaDropout" ? "an element" : "a channel");
}

Dropout::Dropout(double p, Loc where) : p(checked_probability("Dropout", p, where)) {}

Tensor Dropout::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("Dropout", where);
  return !training || p == 0 ? x : dropout(x, p);
}

Tensor Flatten::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("Flatten", where);
  return x.flatten(start, end);
}

Tensor Unflatten::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("Unflatten", where);
  return x.unflatten(axis, sizes);
}

Tensor CosineSimilarity::operator()(const Tensor& a, const Tensor& b, Loc where) const {
  const OuterCall call("CosineSimilarity", where);
  return cosine_similarity(a, b, axis, eps);
}

Tensor PairwiseDistance::operator()(const Tensor& a, const Tensor& b, Loc where) const {
  const OuterCall call("PairwiseDistance", where);
  return pairwise_distance(a, b, p, eps, keepdim);
}

PReLU::PReLU(int64_t count, double slope, Loc where) {
  const OuterCall call("PReLU", where);
  require_size("PReLU: count", count, where);
  weight = full({count}, slope).requires_grad();
}

Tensor Softmax2d::operator()(const Tensor& x, Loc where) const {
  const OuterCall call("Softmax2d", where);
  if (x.rank() != 3 && x.rank() != 4)
    usage_error("the input of Softmax2d has shape {}, of {} axes; give [n, channels, h, w]", to_string(x.shape()),
                x.rank());
  return softmax(x, -3);
}

}  // namespace sinter::inline v0::nn
