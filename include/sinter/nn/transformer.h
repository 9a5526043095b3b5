// Transformers: stacks of encoder and decoder layers (Vaswani et al., NeurIPS 2017). Names and initial values are
// PyTorch's; the batch axis comes first. TransformerEncoderLayer is in attention.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sinter/nn/attention.h"

namespace sinter::inline v0::nn {

/// A TransformerEncoderLayer that also attends to `memory`, an encoder's result: [n, keys, size] or [keys, size].
struct TransformerDecoderLayer {
  /// UsageError unless heads divides size, dim_feedforward is at least 1 and dropout is in [0, 1].
  TransformerDecoderLayer(int64_t size, int64_t heads, TransformerOptions options = {}, Loc where = Loc::current());
  /// `own` is for the attention of x to itself, `cross` for that to memory. Where they are bool, own.attn_mask is
  /// PyTorch's ~tgt_mask and cross.attn_mask its ~memory_mask: true takes part. The key_padding_mask of each is
  /// PyTorch's: true takes no part.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& own = {},
                    const AttentionOptions& cross = {}, Loc where = Loc::current()) const;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1, linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout, dropout1, dropout2, dropout3;
  bool gelu, norm_first;
  SINTER_MODULE(self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3, dropout, dropout1, dropout2, dropout3)
};

/// Encoder layers one after the other, then a norm if there is one.
struct TransformerEncoder {
  /// `count` copies of the layer. UsageError unless it is at least 1.
  TransformerEncoder(const TransformerEncoderLayer& layer, int64_t count, std::optional<LayerNorm> norm = {},
                     Loc where = Loc::current());
  /// Options as a layer's.
  Tensor operator()(const Tensor& x, const AttentionOptions& attention = {}, Loc where = Loc::current()) const;
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
  SINTER_MODULE(layers, norm)
};

/// Decoder layers one after the other, then a norm if there is one.
struct TransformerDecoder {
  /// `count` copies of the layer. UsageError unless it is at least 1.
  TransformerDecoder(const TransformerDecoderLayer& layer, int64_t count, std::optional<LayerNorm> norm = {},
                     Loc where = Loc::current());
  /// Options as a layer's.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& own = {},
                    const AttentionOptions& cross = {}, Loc where = Loc::current()) const;
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
  SINTER_MODULE(layers, norm)
};

/// The attentions of a Transformer: {.target = {.is_causal = true}}. In a bool `attn_mask` true takes part, the
/// opposite of PyTorch's Transformer; in a bool `key_padding_mask` true takes no part, as there.
struct TransformerMasks {
  AttentionOptions source = {};  ///< of the encoder: attn_mask is ~src_mask, key_padding_mask src_key_padding_mask
  AttentionOptions target = {};  ///< of the decoder to itself: ~tgt_mask, tgt_key_padding_mask
  AttentionOptions memory = {};  ///< of the decoder to the encoder's result: ~memory_mask, memory_key_padding_mask
};

/// An encoder, and a decoder that attends to its result, each with a last norm. Matrices are Glorot uniform.
/// @snippet attention.cpp transformer
struct Transformer {
  /// UsageError unless heads divides size, the numbers of layers and dim_feedforward are at least 1, and dropout is in
  /// [0, 1].
  explicit Transformer(int64_t size = 512, int64_t heads = 8, int64_t encoder_layers = 6, int64_t decoder_layers = 6,
                       TransformerOptions options = {}, Loc where = Loc::current());
  /// source: [n, keys, size] or [keys, size]; target, and the result: [n, queries, size] or [queries, size].
  Tensor operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks = {},
                    Loc where = Loc::current()) const;
  /// float32 [size, size], -infinity above the diagonal and 0 elsewhere: an attn_mask under which position i attends
  /// to 0 to i. {.is_causal = true} is the same without a matrix.
  static Tensor generate_square_subsequent_mask(int64_t size, Device device = default_device(),
                                                Loc where = Loc::current());
  TransformerEncoder encoder;
  TransformerDecoder decoder;
  SINTER_MODULE(encoder, decoder)
};

}  // namespace sinter::inline v0::nn
