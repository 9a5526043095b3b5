// The product shared by all layers with a weight and an optional bias.
#pragma once

#include "sinter/ops.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// x W^T + b. x: [..., in], weight: [out, in], bias: [out] or an empty handle.
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor y = matmul(x, weight.transpose());
  return bias.defined() ? y + bias : y;
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
