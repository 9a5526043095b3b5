// The product shared by all layers with a weight and an optional bias.
#pragma once

#include "sinter/ops.h"
#include "tensor/core/autocast.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// x W^T + b. x: [..., in], weight: [out, in], bias: [out] or an empty handle. Under autocast the result has its type.
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = matmul(x, weight.transpose());
  if (!bias.defined()) return y;
  return y + (tensor::autocast_type() == DType::Void ? bias : bias.to(y.dtype()));
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
