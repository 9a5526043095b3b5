// Attention layers. Names and initial values are PyTorch's; the batch axis always comes first (batch_first). In a bool
// mask of AttentionOptions true takes part, as in scaled_dot_product_attention(). PyTorch's layers take the opposite.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "sinter/attention.h"
#include "sinter/nn/layers.h"

namespace sinter::inline v0::nn {

/// Options of MultiheadAttention.
struct MultiheadOptions {
  double dropout = 0;  ///< of the attention weights, in training
  bool bias = true;
  std::optional<int64_t> kdim = {};  ///< size of k's last axis; not given: size
  std::optional<int64_t> vdim = {};  ///< size of v's last axis; not given: size
};
/// Attention in `heads` slices of the embedding, joined by out_proj. If kdim and vdim are size, in_proj_weight is
/// [3 size, size]: the rows of queries, keys and values follow each other. Otherwise there are q_proj_weight [size,
/// size], k_proj_weight [size, kdim] and v_proj_weight [size, vdim] instead. Glorot uniform; biases are zero.
struct MultiheadAttention {
  /// UsageError unless heads divides size, kdim and vdim are at least 1 and dropout is in [0, 1].
  MultiheadAttention(int64_t size, int64_t heads, MultiheadOptions options = {}, Loc where = Loc::current());
  /// q: [n, queries, size] or [queries, size]; k: [n, keys, kdim] or [keys, kdim]; v: [n, keys, vdim] or [keys, vdim].
  /// Of the options, all but dropout_p are used. `attn_mask` broadcasts to [n, heads, queries, keys]; in a bool one
  /// true takes part, while true in the attn_mask of PyTorch's MultiheadAttention takes no part: give ~attn_mask.
  /// `key_padding_mask` is [n, keys] or [keys]; in a bool one true takes no part, as in PyTorch.
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& attention = {},
                    Loc where = Loc::current()) const;
  /// Self-attention: one product computes queries, keys and values. UsageError unless kdim and vdim are size.
  Tensor operator()(const Tensor& x, const AttentionOptions& attention = {}, Loc where = Loc::current()) const;
  /// The same with the weights, PyTorch's need_weights: [n, queries, keys], the mean over the heads, or without
  /// `average` [n, heads, queries, keys].
  std::pair<Tensor, Tensor> with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                         const AttentionOptions& attention = {}, bool average = true,
                                         Loc where = Loc::current()) const;
  Tensor in_proj_weight;                               ///< [3 size, size], or an empty handle
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;  ///< empty handles if there is in_proj_weight
  Tensor in_proj_bias;                                 ///< [3 size]; an empty handle without bias
  Linear out_proj;
  int64_t heads;
  double dropout;
  bool training = true;
  SINTER_MODULE(in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, out_proj)

 private:
  std::array<Tensor, 3> heads_of(const Tensor& q, const Tensor& k, const Tensor& v) const;
  AttentionOptions with_dropout(AttentionOptions attention) const;
  Tensor dropped_at_one(const Tensor& x) const;
  Tensor joined(const Tensor& attended) const;
};

/// rotary_embedding with fixed options: x [..., positions, size].
struct RotaryEmbedding {
  explicit RotaryEmbedding(RotaryOptions options = {}) : options(options) {}
  /// The first element is at position options.offset + offset.
  Tensor operator()(const Tensor& x, int64_t offset = 0, Loc where = Loc::current()) const;
  /// At those positions, as rotary_embedding(x, positions).
  Tensor operator()(const Tensor& x, const Tensor& positions, Loc where = Loc::current()) const;
  RotaryOptions options;
  SINTER_EMPTY_MODULE()
};

/// Options of TransformerEncoderLayer.
struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  bool gelu = false;        ///< instead of relu between the two linear layers
  bool norm_first = false;  ///< x + f(norm(x)) instead of norm(x + f(x))
  double eps = 1e-5;        ///< of the layer norms
};
/// Self-attention and two linear layers, each with a residual sum and a layer norm. x: [n, length, size] or
/// [length, size].
struct TransformerEncoderLayer {
  /// UsageError unless heads divides size, dim_feedforward is at least 1 and dropout is in [0, 1].
  TransformerEncoderLayer(int64_t size, int64_t heads, TransformerOptions options = {}, Loc where = Loc::current());
  /// attention.attn_mask is PyTorch's ~src_mask where it is bool: true takes part. attention.key_padding_mask is
  /// PyTorch's src_key_padding_mask: true takes no part.
  Tensor operator()(const Tensor& x, const AttentionOptions& attention = {}, Loc where = Loc::current()) const;
  MultiheadAttention self_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2;
  Dropout dropout, dropout1, dropout2;
  bool gelu, norm_first;
  SINTER_MODULE(self_attn, linear1, linear2, norm1, norm2, dropout, dropout1, dropout2)
};

}  // namespace sinter::inline v0::nn
