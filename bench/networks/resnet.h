// ResNet-18 for images of 32 x 32: a stem of 3 x 3, four stages of two blocks. He et al., CVPR 2016.
#pragma once

#include <sinter/sinter.h>

#include <optional>
#include <vector>

namespace bench {

/// relu(f(x) + x), where f is two convolutions; an x of another shape is projected.
struct BasicBlock {
  BasicBlock(int64_t in, int64_t out, int64_t stride)
      : conv1(in, out, 3, {.stride = stride, .padding = 1, .bias = false}),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        norm1(out),
        norm2(out) {
    if (stride != 1 || in != out)
      shortcut.emplace(sinter::nn::Conv2d(in, out, 1, {.stride = stride, .bias = false}), sinter::nn::BatchNorm2d(out));
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor h = norm2(conv2(relu(norm1(conv1(x)))));
    return relu(h + (shortcut ? (*shortcut)(x) : x));
  }
  sinter::nn::Conv2d conv1, conv2;
  sinter::nn::BatchNorm2d norm1, norm2;
  std::optional<sinter::nn::Sequential<sinter::nn::Conv2d, sinter::nn::BatchNorm2d>> shortcut;
  SINTER_MODULE(conv1, norm1, conv2, norm2, shortcut)
};

struct ResNet18 {
  ResNet18() {
    int64_t in = 64;
    for (const int64_t out : {64, 128, 256, 512}) {
      blocks.emplace_back(in, out, out == 64 ? 1 : 2);
      blocks.emplace_back(out, out, 1);
      in = out;
    }
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    sinter::Tensor h = relu(norm(stem(x)));
    for (const BasicBlock& block : blocks) h = block(h);
    return out(h.mean({2, 3}));
  }
  sinter::nn::Conv2d stem{3, 64, 3, {.padding = 1, .bias = false}};
  sinter::nn::BatchNorm2d norm{64};
  std::vector<BasicBlock> blocks;
  sinter::nn::Linear out{512, 10};
  SINTER_MODULE(stem, norm, blocks, out)
};

}  // namespace bench
