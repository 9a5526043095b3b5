// A small GPT: 4 layers, 4 heads of 32, 128 positions, 256 tokens. Radford et al., 2019.
#pragma once

#include <sinter/sinter.h>

#include <cmath>
#include <limits>
#include <vector>

namespace bench {

/// Causal self-attention, in words of its own.
struct CausalSelfAttention {
  CausalSelfAttention(int64_t size, int64_t heads, double dropout)
      : qkv(size, 3 * size), project(size, size), drop_weights(dropout), drop(dropout), heads(heads) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const int64_t n = x.size(0), positions = x.size(1), size = x.size(2);
    const auto split = [&](const sinter::Tensor& t) {
      return t.reshape({n, positions, heads, size / heads}).transpose(1, 2);
    };
    const std::vector<sinter::Tensor> parts = qkv(x).chunk(3, -1);
    const sinter::Tensor q = split(parts[0]), k = split(parts[1]), v = split(parts[2]);
    const sinter::Tensor at = sinter::arange(positions);
    const sinter::Tensor scores = matmul(q, k.transpose()) / std::sqrt(static_cast<double>(size / heads));
    const sinter::Tensor seen = where(at.unsqueeze(1) >= at, scores, -std::numeric_limits<double>::infinity());
    const sinter::Tensor y = matmul(drop_weights(softmax(seen)), v);
    return drop(project(y.transpose(1, 2).reshape({n, positions, size})));
  }
  sinter::nn::Linear qkv, project;
  sinter::nn::Dropout drop_weights, drop;
  int64_t heads;
  SINTER_MODULE(qkv, project, drop_weights, drop)
};

struct GptBlock {
  GptBlock(int64_t size, int64_t heads, double dropout)
      : norm1(size),
        norm2(size),
        attention(size, heads, dropout),
        wide(size, 4 * size),
        narrow(4 * size, size),
        drop(dropout) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor h = x + attention(norm1(x));
    return h + drop(narrow(gelu(wide(norm2(h)))));
  }
  sinter::nn::LayerNorm norm1, norm2;
  CausalSelfAttention attention;
  sinter::nn::Linear wide, narrow;
  sinter::nn::Dropout drop;
  SINTER_MODULE(norm1, attention, norm2, wide, narrow, drop)
};

struct Gpt {
  static constexpr int64_t kTokens = 256, kPositions = 128, kSize = 128, kHeads = 4, kLayers = 4;
  static constexpr double kDropout = 0.1;
  Gpt() {
    for (int64_t i = 0; i < kLayers; ++i) blocks.emplace_back(kSize, kHeads, kDropout);
  }
  /// [n, positions] to [n, positions, tokens].
  sinter::Tensor operator()(const sinter::Tensor& tokens) const {
    sinter::Tensor h = drop(token(tokens) + position(sinter::arange(tokens.size(1))));
    for (const GptBlock& block : blocks) h = block(h);
    return out(norm(h));
  }
  sinter::nn::Embedding token{kTokens, kSize}, position{kPositions, kSize};
  sinter::nn::Dropout drop{kDropout};
  std::vector<GptBlock> blocks;
  sinter::nn::LayerNorm norm{kSize};
  sinter::nn::Linear out{kSize, kTokens, false};
  SINTER_MODULE(token, position, drop, blocks, norm, out)
};

}  // namespace bench
