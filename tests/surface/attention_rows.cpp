// Attention and rotary embeddings.
#include "sinter/attention.h"

#include "sinter/create.h"
#include "sinter/nn/attention.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

const Row kAttention{
    "scaled_dot_product_attention",
    [](const Tensors& x) {
      return scaled_dot_product_attention(x[0], x[1], x[2],
                                          {.is_causal = true, .lower_right = true, .enable_gqa = true});
    },
    "F.scaled_dot_product_attention(x, y, z, torch.ones(x.shape[-2], y.shape[-2]).tril(y.shape[-2] - x.shape[-2]) > 0, "
    "enable_gqa=True)",
    {{{1, 4, 3, 2}, {1, 2, 5, 2}, {1, 2, 5, 3}}, {{2, 2, 3}, {2, 2, 3}, {2, 2, 1}}}};

const Row kWeights{
    "attention_weights",
    [](const Tensors& x) { return attention_weights(x[0], x[1], {.key_padding_mask = x[2]}); },
    "((x @ y.transpose(-1, -2)) * x.shape[-1] ** -0.5).masked_fill(z.reshape(len(z), *[1] * (x.dim() - 2), "
    "-1), -math.inf).softmax(-1)",
    {{{2, 3, 2}, {2, 5, 2}, surface::mask({2, 5})}, {{1, 2, 3, 2}, {1, 2, 2, 2}, surface::mask({1, 2})}}};

const Row kRotary{
    "rotary_embedding",
    [](const Tensors& x) { return rotary_embedding(x[0], x[1]); },
    "(lambda h: (lambda a: torch.cat([x[..., :h] * a.cos() - x[..., h:] * a.sin(), x[..., h:] * a.cos() + x[..., :h] * "
    "a.sin()], -1))(y[..., None] * 10000.0 ** (-torch.arange(h) / h)))(x.shape[-1] // 2)",
    {{{2, 3, 4}, surface::indices({3}, 20)}, {{2, 3, 2}, surface::indices({2, 1}, 5)}}};

/// The matrices are inputs; the last layer is that of the identity.
const Row kKeysOfOtherSizes{
    "MultiheadAttention kdim",
    [](const Tensors& x) -> Tensors {
      nn::MultiheadAttention layer(4, 2, {.bias = false, .kdim = 3, .vdim = 2});
      layer.q_proj_weight = x[3];
      layer.k_proj_weight = x[4];
      layer.v_proj_weight = x[5];
      layer.out_proj.weight = eye(4);
      const auto [y, weights] = layer.with_weights(x[0], x[1], x[2]);
      return {y, weights, layer(x[0], x[1], x[2], {.is_causal = true})};
    },
    "(lambda m, p, q: (*torch.func.functional_call(m, p, q), torch.func.functional_call(m, p, q, dict(attn_mask=~"
    "torch.ones(3, 5, dtype=torch.bool).tril(), need_weights=False))[0]))(torch.nn.MultiheadAttention(4, 2, "
    "bias=False, "
    "kdim=3, vdim=2, batch_first=True), {'q_proj_weight': u, 'k_proj_weight': v, 'v_proj_weight': w, "
    "'out_proj.weight': torch.eye(4)}, (x, y, z))",
    {{{2, 3, 4}, {2, 5, 3}, {2, 5, 2}, {4, 4}, {4, 3}, {4, 2}}}};

const surface::Family kAttentionFamily(
    "attention", {kAttention, kWeights, kRotary, kKeysOfOtherSizes},
    {
        SURFACE_BAD("scaled_dot_product_attention",
                    scaled_dot_product_attention(zeros({3, 2}), zeros({4, 5}), zeros({4, 5})), "[3, 2]", "[4, 5]"),
        SURFACE_BAD("attention_weights", attention_weights(zeros({3, 2}), zeros({4, 5})), "[3, 2]", "[4, 5]"),
        SURFACE_BAD("MultiheadAttention", nn::MultiheadAttention(4, 2, {.kdim = 0}), "kdim is 0", "at least 1"),
        SURFACE_BAD("MultiheadAttention",
                    nn::MultiheadAttention(4, 2, {.kdim = 3, .vdim = 2})(zeros({3, 4}), zeros({5, 3}), zeros({5, 3})),
                    "input v of MultiheadAttention has shape [5, 3]", "[2]"),
        SURFACE_BAD("MultiheadAttention", nn::MultiheadAttention(4, 2, {.kdim = 3})(zeros({3, 4})),
                    "input k of MultiheadAttention has shape [3, 4]", "[3]"),
        SURFACE_BAD("rotary_embedding", rotary_embedding(zeros({3, 2}), arange(4)), "[4, 1]", "[3, 1]"),
    });

}  // namespace
