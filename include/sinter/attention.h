// Attention: values weighted by products of queries and keys; and positions as rotations.
#pragma once

#include <cstdint>
#include <optional>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup attention Attention
/// Integers are computed in float32.
/// @snippet attention.cpp attention
/// @{

/// Options of scaled_dot_product_attention().
struct AttentionOptions {
  /// Broadcast to [..., queries, keys]. bool: true takes part; float: added to the scores.
  Tensor attn_mask = {};
  /// Query i attends to the keys 0 to i.
  bool is_causal = false;
  /// With is_causal: query i attends to the keys 0 to i + keys - queries, so that the last query attends to all. For
  /// queries that follow on keys of earlier ones, as in PyTorch's causal_lower_right.
  bool lower_right = false;
  /// Factor of the scores; not given: 1 / sqrt(size of a key).
  std::optional<double> scale = {};
  /// Probability that a weight is zeroed; the others are scaled by 1/(1-p).
  double dropout_p = 0;
  /// Whether k and v may have fewer heads, the axis before the last two, which are then shared: q's heads 0 to r - 1
  /// attend to head 0, where r is the number of q's heads for each of k.
  bool enable_gqa = false;
  /// [keys], or [n, keys] for the first axis of [n, ..., queries, keys]. bool: true takes no part, as in PyTorch,
  /// unlike in `attn_mask`; float: added to the scores.
  Tensor key_padding_mask = {};
};
/// softmax(q k^T * scale) v. q: [..., queries, size], k: [..., keys, size], v: [..., keys, values]; leading axes
/// broadcast. A query that attends to no key gives NaN. Scores and their softmax are float32 for 16-bit floats; the
/// weights are then rounded to that type, as PyTorch does. Vaswani et al., NeurIPS 2017.
Tensor scaled_dot_product_attention(Arg q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
/// The weights of scaled_dot_product_attention(): softmax(q k^T * scale), [..., queries, keys].
Tensor attention_weights(Arg q, const Tensor& k, const AttentionOptions& options = {});

/// Options of rotary_embedding().
struct RotaryOptions {
  double base = 10000;  ///< base of the angles; finite, above 0
  /// Position of the first element.
  int64_t offset = 0;
  /// Whether a pair is two adjacent elements. Otherwise it is an element and the one half the size further on.
  bool interleaved = false;
};
/// Rotates the pairs of the last axis by the position along the axis before it. Pair i of x [..., positions, size] is
/// rotated by position * base^(-2i/size). Su et al., 2021 (RoFormer).
Tensor rotary_embedding(Arg x, const RotaryOptions& options = {});
/// The same at those positions: whole numbers, added to options.offset, that broadcast to x's axes but the last.
Tensor rotary_embedding(Arg x, const Tensor& positions, const RotaryOptions& options = {});
/// @}

}  // namespace sinter::inline v0
