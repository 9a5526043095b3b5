// Attention and rotary embeddings.
#include "sinter/attention.h"

#include "sinter/create.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

const Row kAttention{
    "scaled_dot_product_attention",
    [](const Tensors& x) {
      return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true, .lower_right = true, .enable_gqa = true});
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

const surface::Family kAttentionFamily(
    "attention", {kAttention, kWeights, kRotary},
    {
        SURFACE_BAD("scaled_dot_product_attention",
                    scaled_dot_product_attention(zeros({3, 2}), zeros({4, 5}), zeros({4, 5})), "[3, 2]", "[4, 5]"),
        SURFACE_BAD("attention_weights", attention_weights(zeros({3, 2}), zeros({4, 5})), "[3, 2]", "[4, 5]"),
        SURFACE_BAD("rotary_embedding", rotary_embedding(zeros({3, 2}), arange(4)), "[4, 1]", "[3, 1]"),
    });

}  // namespace
