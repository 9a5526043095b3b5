// The layers of include/sinter/nn/activation_layers.h.
#include "sinter/nn/activation_layers.h"

#include <fmt/core.h>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {

Tensor Sigmoid::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Sigmoid", where);
  return sigmoid(x);
}
Tensor Tanh::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Tanh", where);
  return tanh(x);
}
Tensor SiLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("SiLU", where);
  return silu(x);
}
Tensor SELU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("SELU", where);
  return selu(x);
}
Tensor ReLU6::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ReLU6", where);
  return relu6(x);
}
Tensor Softsign::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softsign", where);
  return softsign(x);
}
Tensor Mish::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Mish", where);
  return mish(x);
}
Tensor LogSigmoid::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LogSigmoid", where);
  return logsigmoid(x);
}
Tensor Tanhshrink::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Tanhshrink", where);
  return tanhshrink(x);
}
Tensor Hardsigmoid::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Hardsigmoid", where);
  return hardsigmoid(x);
}
Tensor Hardswish::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Hardswish", where);
  return hardswish(x);
}
Tensor GELU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("GELU", where);
  return gelu(x, form);
}
Tensor LeakyReLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LeakyReLU", where);
  return leaky_relu(x, slope);
}
Tensor ELU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("ELU", where);
  return elu(x, alpha);
}
Tensor CELU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("CELU", where);
  return celu(x, alpha);
}
Tensor Hardtanh::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Hardtanh", where);
  return hardtanh(x, lo, hi);
}
Tensor Threshold::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Threshold", where);
  return sinter::threshold(x, bound, value);
}
Tensor Softplus::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softplus", where);
  return softplus(x, beta, threshold);
}
Tensor Hardshrink::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Hardshrink", where);
  return hardshrink(x, lambda);
}
Tensor Softshrink::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softshrink", where);
  return softshrink(x, lambda);
}
Tensor GLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("GLU", where);
  return glu(x, axis);
}
Tensor Softmax::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softmax", where);
  return softmax(x, axis);
}
Tensor LogSoftmax::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("LogSoftmax", where);
  return log_softmax(x, axis);
}
Tensor Softmin::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softmin", where);
  return softmin(x, axis);
}

PReLU::PReLU(int64_t count, double slope, Loc where) {
  const tensor::OuterCall call("PReLU", where);
  require_size("PReLU: count", count, where);
  weight = full({count}, slope).requires_grad();
}
Tensor PReLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("PReLU", where);
  return prelu(x, weight);
}

Tensor RReLU::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("RReLU", where);
  return rrelu(x, lower, upper, training);
}

Tensor Softmax2d::operator()(const Tensor& x, Loc where) const {
  const tensor::OuterCall call("Softmax2d", where);
  if (x.rank() != 3 && x.rank() != 4)
    refuse(fmt::format("the input of Softmax2d has shape {}, of {} axes; give [n, channels, h, w]",
                       to_string(x.shape()), x.rank()));
  return softmax(x, -3);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
