// An MLP-mixer for images of 32 x 32: 64 patches of 4 x 4, 8 layers. Tolstikhin et al., NeurIPS 2021.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace bench {

/// A perceptron over the patches, and one over the channels.
struct MixerBlock {
  MixerBlock(int64_t patches, int64_t size)
      : norm1(size),
        norm2(size),
        patches1(patches, patches),
        patches2(patches, patches),
        channels1(size, 4 * size),
        channels2(4 * size, size) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor h = x + patches2(gelu(patches1(norm1(x).transpose()))).transpose();
    return h + channels2(gelu(channels1(norm2(h))));
  }
  sinter::nn::LayerNorm norm1, norm2;
  sinter::nn::Linear patches1, patches2, channels1, channels2;
  SINTER_MODULE(norm1, patches1, patches2, norm2, channels1, channels2)
};

struct Mixer {
  static constexpr int64_t kPatches = 64, kSize = 128, kLayers = 8;
  Mixer() {
    for (int64_t i = 0; i < kLayers; ++i) blocks.emplace_back(kPatches, kSize);
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    sinter::Tensor h = stem(x).flatten(2).transpose();
    for (const MixerBlock& block : blocks) h = block(h);
    return out(norm(h).mean(1));
  }
  sinter::nn::Conv2d stem{3, kSize, 4, {.stride = 4}};
  std::vector<MixerBlock> blocks;
  sinter::nn::LayerNorm norm{kSize};
  sinter::nn::Linear out{kSize, 10};
  SINTER_MODULE(stem, blocks, norm, out)
};

}  // namespace bench
