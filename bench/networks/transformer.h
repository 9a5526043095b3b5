// A transformer that writes: 6 layers, 8 heads of 64, 512 positions, 4096 tokens, of the library's layers. Vaswani et
// al., 2017; norms come first.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace bench {

struct TransformerBlock {
  TransformerBlock(int64_t size, int64_t heads)
      : norm1(size), norm2(size), attention(size, heads), wide(size, 4 * size), narrow(4 * size, size) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor h = x + attention(norm1(x), {.is_causal = true});
    return h + narrow(gelu(wide(norm2(h))));
  }
  sinter::nn::LayerNorm norm1, norm2;
  sinter::nn::MultiheadAttention attention;
  sinter::nn::Linear wide, narrow;
  SINTER_MODULE(norm1, attention, norm2, wide, narrow)
};

struct Transformer {
  static constexpr int64_t kTokens = 4096, kPositions = 512, kSize = 512, kHeads = 8, kLayers = 6;
  Transformer() {
    for (int64_t i = 0; i < kLayers; ++i) blocks.emplace_back(kSize, kHeads);
  }
  /// [n, positions] to [n, positions, tokens].
  sinter::Tensor operator()(const sinter::Tensor& tokens) const {
    sinter::Tensor h = token(tokens) + position(sinter::arange(tokens.size(1)));
    for (const TransformerBlock& block : blocks) h = block(h);
    return out(norm(h));
  }
  sinter::nn::Embedding token{kTokens, kSize}, position{kPositions, kSize};
  std::vector<TransformerBlock> blocks;
  sinter::nn::LayerNorm norm{kSize};
  sinter::nn::Linear out{kSize, kTokens, false};
  SINTER_MODULE(token, position, blocks, norm, out)
};

}  // namespace bench
