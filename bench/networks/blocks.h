// Twelve transformer blocks of 256 features over 128 positions: what checkpoint() costs and saves in a deep network.
#pragma once

#include <sinter/sinter.h>

#include <vector>

#include "transformer.h"

namespace bench {

template <bool kCheckpoints>
struct Blocks {
  static constexpr int64_t kPositions = 128, kSize = 256, kHeads = 4, kLayers = 12;
  Blocks() {
    for (int64_t i = 0; i < kLayers; ++i) blocks.emplace_back(kSize, kHeads);
  }
  /// [n, positions, size] to the scores of classes, [n, 10].
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    sinter::Tensor h = x;
    for (const TransformerBlock& block : blocks) h = kCheckpoints ? checkpoint(block, h) : block(h);
    return out(norm(h).mean(1));
  }
  std::vector<TransformerBlock> blocks;
  sinter::nn::LayerNorm norm{kSize};
  sinter::nn::Linear out{kSize, 10};
  SINTER_MODULE(blocks, norm, out)
};

}  // namespace bench
