// Convolution and pooling layers: include/sinter/conv.h with weights. Names and initial values are PyTorch's.
#pragma once

#include "sinter/conv.h"
#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// weight: [out, in / groups, kernel], bias: [out], both uniform in +-1/sqrt(in / groups * kernel). x: [n, in, length]
/// or [in, length].
struct Conv1d {
  Conv1d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options = {}, bool bias = true,
         Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< bias may be an empty handle
  ConvOptions options;
  SINTER_MODULE(weight, bias)
};

/// weight: [out, in / groups, kh, kw], bias: [out], both uniform in +-1/sqrt(in / groups * kh * kw). x: [n, in, h, w]
/// or [in, h, w].
struct Conv2d {
  Conv2d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options = {}, bool bias = true,
         Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;
  ConvOptions options;
  SINTER_MODULE(weight, bias)
};

/// max_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct MaxPool2d {
  explicit MaxPool2d(PerAxis kernel, MaxPoolOptions options = {}) : kernel(kernel), options(options) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  PerAxis kernel;
  MaxPoolOptions options;
  SINTER_EMPTY_MODULE()
};

/// avg_pool2d() with a fixed window. x: [n, channels, h, w] or [channels, h, w].
struct AvgPool2d {
  explicit AvgPool2d(PerAxis kernel, AvgPoolOptions options = {}) : kernel(kernel), options(options) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  PerAxis kernel;
  AvgPoolOptions options;
  SINTER_EMPTY_MODULE()
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
