// The layers of include/sinter/nn/attention.h.
#include "sinter/nn/attention.h"

#include <fmt/core.h>

#include <string_view>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

/// [.., length, size] to [.., heads, length, size / heads].
Tensor split_heads(const Tensor& x, int64_t heads) {
  std::vector<Dim> dims = x.shape().dims();
  dims.back() = heads;
  dims.push_back(x.shape().dims().back().value() / heads);
  return x.reshape(Shape(dims)).transpose(-2, -3);
}

Tensor join_heads(const Tensor& x) {
  const Tensor y = x.transpose(-2, -3);
  std::vector<Dim> dims = y.shape().dims();
  const int64_t size = dims.back().value();
  dims.pop_back();
  dims.back() = dims.back().value() * size;
  return y.reshape(Shape(dims));
}

/// `size`, after all arguments of `layer` were checked. Its submodules would report errors under their own names.
int64_t checked(std::string_view layer, int64_t size, int64_t heads, double dropout, Loc where) {
  require_size(fmt::format("{}: size", layer), size, where);
  require_size(fmt::format("{}: heads", layer), heads, where);
  if (size % heads)
    usage_error_at(where, "{}: the size {} does not fall into {} heads; choose a divisor", layer, size, heads);
  if (!(dropout >= 0 && dropout <= 1))
    usage_error_at(where, "{}: dropout is {}; a probability in [0, 1] is needed", layer, dropout);
  return size;
}

}  // namespace

int64_t checked_attention(std::string_view layer, int64_t size, int64_t heads, const TransformerOptions& options,
                          Loc where) {
  require_size(fmt::format("{}: dim_feedforward", layer), options.dim_feedforward, where);
  return checked(layer, size, heads, options.dropout, where);
}

MultiheadAttention::MultiheadAttention(int64_t size, int64_t heads, MultiheadOptions options, Loc where)
    : out_proj(checked("MultiheadAttention", size, heads, options.dropout, where), size, options.bias, where),
      heads(heads),
      dropout(options.dropout) {
  const OuterCall call("MultiheadAttention", where);
  const int64_t kdim = options.kdim.value_or(size), vdim = options.vdim.value_or(size);
  require_size("MultiheadAttention: kdim", kdim, where);
  require_size("MultiheadAttention: vdim", vdim, where);
  if (kdim == size && vdim == size) {
    in_proj_weight = init::xavier_uniform({3 * size, size}).requires_grad();
  } else {
    q_proj_weight = init::xavier_uniform({size, size}).requires_grad();
    k_proj_weight = init::xavier_uniform({size, kdim}).requires_grad();
    v_proj_weight = init::xavier_uniform({size, vdim}).requires_grad();
  }
  if (!options.bias) return;
  in_proj_bias = zeros({3 * size}).requires_grad();
  out_proj.bias = zeros({size}).requires_grad();
}

std::array<Tensor, 3> MultiheadAttention::heads_of(const Tensor& q, const Tensor& k, const Tensor& v) const {
  const std::vector<Tensor> weights = in_proj_weight.defined()
                                          ? in_proj_weight.chunk(3)
                                          : std::vector<Tensor>{q_proj_weight, k_proj_weight, v_proj_weight};
  const std::vector<Tensor> biases = in_proj_bias.defined() ? in_proj_bias.chunk(3) : std::vector<Tensor>(3);
  const Tensor* inputs[] = {&q, &k, &v};
  constexpr std::string_view kNames[] = {"input q", "input k", "input v"};
  std::array<Tensor, 3> made;
  for (size_t i = 0; i < 3; ++i) {
    require_last(*inputs[i], {weights[i].shape()[1]}, "MultiheadAttention", kNames[i]);
    made[i] = split_heads(linear(*inputs[i], weights[i], biases[i]), heads);
  }
  return made;
}

AttentionOptions MultiheadAttention::with_dropout(AttentionOptions attention) const {
  attention.dropout_p = training && dropout < 1 ? dropout : 0.0;
  return attention;
}

/// Dropout 1 leaves nothing; as an option of attention it is below that.
Tensor MultiheadAttention::dropped_at_one(const Tensor& x) const {
  return training && dropout == 1 ? sinter::dropout(x, 1.0) : x;
}

Tensor MultiheadAttention::joined(const Tensor& attended) const {
  return out_proj(join_heads(dropped_at_one(attended)));
}

Tensor MultiheadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionOptions& attention, Loc where) const {
  const OuterCall call("MultiheadAttention", where);
  const auto [queries, keys, values] = heads_of(q, k, v);
  return joined(scaled_dot_product_attention(queries, keys, values, with_dropout(attention)));
}

std::pair<Tensor, Tensor> MultiheadAttention::with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                                           const AttentionOptions& attention, bool average,
                                                           Loc where) const {
  const OuterCall call("MultiheadAttention", where);
  const auto [queries, keys, values] = heads_of(q, k, v);
  const Tensor weights = dropped_at_one(attention_weights(queries, keys, with_dropout(attention)));
  return {out_proj(join_heads(matmul(weights, values))), average ? weights.mean(-3) : weights};
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionOptions& attention, Loc where) const {
  const OuterCall call("MultiheadAttention", where);
  if (!in_proj_weight.defined()) return (*this)(x, x, x, attention);
  require_last(x, {in_proj_weight.shape()[1]}, "MultiheadAttention");
  const std::vector<Tensor> made = linear(x, in_proj_weight, in_proj_bias).chunk(3, -1);
  return joined(scaled_dot_product_attention(split_heads(made[0], heads), split_heads(made[1], heads),
                                             split_heads(made[2], heads), with_dropout(attention)));
}

Tensor RotaryEmbedding::operator()(const Tensor& x, int64_t offset, Loc where) const {
  const OuterCall call("RotaryEmbedding", where);
  RotaryOptions shifted = options;
  if (__builtin_add_overflow(shifted.offset, offset, &shifted.offset))
    usage_error("the offsets {} and {} of RotaryEmbedding add up to more than an int64 holds; give smaller ones",
                options.offset, offset);
  return rotary_embedding(x, shifted);
}

Tensor RotaryEmbedding::operator()(const Tensor& x, const Tensor& positions, Loc where) const {
  const OuterCall call("RotaryEmbedding", where);
  return rotary_embedding(x, positions, options);
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t size, int64_t heads, TransformerOptions options, Loc where)
    : self_attn(checked_attention("TransformerEncoderLayer", size, heads, options, where), heads,
                {.dropout = options.dropout}, where),
      linear1(size, options.dim_feedforward, true, where),
      linear2(options.dim_feedforward, size, true, where),
      norm1(size, options.eps, where),
      norm2(size, options.eps, where),
      dropout(options.dropout, where),
      dropout1(options.dropout, where),
      dropout2(options.dropout, where),
      gelu(options.gelu),
      norm_first(options.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionOptions& attention, Loc where) const {
  const OuterCall call("TransformerEncoderLayer", where);
  auto attend = [&](const Tensor& t) { return dropout1(self_attn(t, attention)); };
  auto feed = [&](const Tensor& t) {
    const Tensor inner = linear1(t);
    return dropout2(linear2(dropout(gelu ? sinter::gelu(inner) : relu(inner))));
  };
  if (norm_first) {
    const Tensor y = x + attend(norm1(x));
    return y + feed(norm2(y));
  }
  const Tensor y = norm1(x + attend(x));
  return norm2(y + feed(y));
}

}  // namespace sinter::inline v0::nn
