// The blocks of MobileNetV2, for images of 32 x 32. Sandler et al., CVPR 2018.
#pragma once

#include <sinter/sinter.h>

#include <optional>
#include <vector>

namespace bench {

/// A convolution, a batch norm and min(max(x, 0), 6).
struct ConvNorm6 {
  ConvNorm6(int64_t in, int64_t out, int64_t window, int64_t stride = 1, int64_t groups = 1)
      : conv(in, out, window, {.stride = stride, .padding = window / 2, .groups = groups, .bias = false}), norm(out) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const { return clamp(norm(conv(x)), 0, 6); }
  sinter::nn::Conv2d conv;
  sinter::nn::BatchNorm2d norm;
  SINTER_MODULE(conv, norm)
};

/// An inverted residual: more channels, each convolved by itself, and fewer again.
struct InvertedResidual {
  InvertedResidual(int64_t in, int64_t out, int64_t stride, int64_t expansion)
      : depthwise(in * expansion, in * expansion, 3, stride, in * expansion),
        project(in * expansion, out, 1, {.bias = false}),
        norm(out),
        residual(stride == 1 && in == out) {
    if (expansion != 1) expand.emplace(in, in * expansion, 1);
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor h = norm(project(depthwise(expand ? (*expand)(x) : x)));
    return residual ? x + h : h;
  }
  std::optional<ConvNorm6> expand;
  ConvNorm6 depthwise;
  sinter::nn::Conv2d project;
  sinter::nn::BatchNorm2d norm;
  bool residual;
  SINTER_MODULE(expand, depthwise, project, norm)
};

struct MobileNetV2 {
  MobileNetV2() {
    struct Stage {
      int64_t expansion, channels, blocks, stride;
    };
    int64_t in = 32;
    for (const Stage& s : {Stage{1, 16, 1, 1}, {6, 24, 2, 1}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}})
      for (int64_t i = 0; i < s.blocks; ++i) {
        blocks.emplace_back(in, s.channels, i == 0 ? s.stride : 1, s.expansion);
        in = s.channels;
      }
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    sinter::Tensor h = stem(x);
    for (const InvertedResidual& block : blocks) h = block(h);
    return out(head(h).mean({2, 3}));
  }
  ConvNorm6 stem{3, 32, 3};
  std::vector<InvertedResidual> blocks;
  ConvNorm6 head{96, 320, 1};
  sinter::nn::Linear out{320, 10};
  SINTER_MODULE(stem, blocks, head, out)
};

}  // namespace bench
