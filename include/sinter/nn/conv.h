// Convolution layers: include/sinter/conv.h with weights. Names and initial values are PyTorch's.
#pragma once

#include "sinter/conv.h"
#include "sinter/nn/module.h"
#include "sinter/nn/spatial.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// What convolution layers have.
template <class Options>
struct ConvLayer {
  Tensor weight, bias;  ///< bias may be an empty handle
  Options options;
  SINTER_MODULE(weight, bias)
};

/// weight: [out, in / groups, kernel], bias: [out], both uniform in +-1/sqrt(in / groups * kernel). x: [n, in, length]
/// or [in, length].
struct Conv1d : ConvLayer<ConvOptions> {
  Conv1d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options = {}, bool bias = true,
         Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// weight: [out, in / groups, kh, kw], bias: [out], both uniform in +-1/sqrt(in / groups * kh * kw). x: [n, in, h, w]
/// or [in, h, w].
struct Conv2d : ConvLayer<ConvOptions> {
  Conv2d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options = {}, bool bias = true,
         Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// weight: [out, in / groups, kd, kh, kw], bias: [out], both uniform in +-1/sqrt(in / groups * kd * kh * kw). x: [n,
/// in, d, h, w] or [in, d, h, w].
struct Conv3d : ConvLayer<ConvOptions> {
  Conv3d(int64_t in, int64_t out, PerAxis kernel, ConvOptions options = {}, bool bias = true,
         Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// conv_transpose1d(). weight: [in, out / groups, kernel], bias: [out], both uniform in +-1/sqrt(out / groups *
/// kernel). x: [n, in, length] or [in, length].
struct ConvTranspose1d : ConvLayer<ConvTransposeOptions> {
  ConvTranspose1d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options = {}, bool bias = true,
                  Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// conv_transpose2d(). weight: [in, out / groups, kh, kw], bias: [out], both uniform in +-1/sqrt(out / groups * kh *
/// kw). x: [n, in, h, w] or [in, h, w].
struct ConvTranspose2d : ConvLayer<ConvTransposeOptions> {
  ConvTranspose2d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options = {}, bool bias = true,
                  Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

/// conv_transpose3d(). weight: [in, out / groups, kd, kh, kw], bias: [out], both uniform in +-1/sqrt(out / groups * kd
/// * kh * kw). x: [n, in, d, h, w] or [in, d, h, w].
struct ConvTranspose3d : ConvLayer<ConvTransposeOptions> {
  ConvTranspose3d(int64_t in, int64_t out, PerAxis kernel, ConvTransposeOptions options = {}, bool bias = true,
                  Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
