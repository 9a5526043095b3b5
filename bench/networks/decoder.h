// A transformer that writes a token at a time, with the keys and values of those before: heads of 64, rotary positions
// (Su et al., 2021), norms first.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace bench {

struct DecoderSizes {
  int64_t layers, size, tokens, positions;  ///< a multiple of 64; how many positions there are at most
};

/// Of all positions, [1, heads, positions, 64].
struct KeyValueCache {
  explicit KeyValueCache(const DecoderSizes& s)
      : keys(sinter::zeros({1, s.size / 64, s.positions, 64}).contiguous().realize()),
        values(sinter::zeros({1, s.size / 64, s.positions, 64}).contiguous().realize()) {}
  sinter::Tensor keys, values;
};

struct DecoderBlock {
  explicit DecoderBlock(int64_t size)
      : before(size), after(size), qkv(size, 3 * size), out(size, size), wide(size, 4 * size), narrow(4 * size, size) {}
  /// A token [1, 1, size], the last of `seen`.
  sinter::Tensor operator()(const sinter::Tensor& x, const sinter::Tensor& position, const sinter::Dim& seen,
                            KeyValueCache& cache) const {
    const int64_t heads = x.size(2) / 64;
    const std::vector<sinter::Tensor> parts =
        qkv(before(x)).unflatten(2, {3, heads, 64}).permute({2, 0, 3, 1, 4}).unbind(0);
    cache.keys.at({sinter::Slice{}, sinter::Slice{}, position}) = rotary_embedding(parts[1], position);
    cache.values.at({sinter::Slice{}, sinter::Slice{}, position}) = parts[2];
    const sinter::Tensor y = scaled_dot_product_attention(
        rotary_embedding(parts[0], position), cache.keys.slice(2, {0, seen}), cache.values.slice(2, {0, seen}));
    const sinter::Tensor h = x + out(y.transpose(1, 2).flatten(2));
    return h + narrow(gelu(wide(after(h))));
  }
  sinter::nn::LayerNorm before, after;
  sinter::nn::Linear qkv, out, wide, narrow;
  SINTER_MODULE(before, after, qkv, out, wide, narrow)
};

struct Decoder {
  explicit Decoder(const DecoderSizes& s) : token(s.tokens, s.size), norm(s.size), head(s.size, s.tokens, false) {
    for (int64_t i = 0; i < s.layers; ++i) blocks.emplace_back(s.size);
  }
  /// A token [1, 1], the last of `seen`, to the scores of the next, [1, 1, tokens].
  sinter::Tensor operator()(const sinter::Tensor& last, const sinter::Dim& seen,
                            std::vector<KeyValueCache>& caches) const {
    const sinter::Tensor position = (sinter::Tensor(seen) - 1).reshape({1});
    sinter::Tensor x = token(last);
    for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, position, seen, caches[i]);
    return head(norm(x));
  }
  sinter::nn::Embedding token;
  std::vector<DecoderBlock> blocks;
  sinter::nn::LayerNorm norm;
  sinter::nn::Linear head;
  SINTER_MODULE(token, blocks, norm, head)
};

}  // namespace bench
