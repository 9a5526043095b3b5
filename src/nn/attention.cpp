// The layers of include/sinter/nn/attention.h.
#include "sinter/nn/attention.h"

#include <fmt/core.h>

#include "nn/layer_checks.h"
#include "nn/linear_product.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

/// [.., length, size] to [.., heads, length, size / heads].
Tensor split_heads(const Tensor& x, int64_t heads) {
  std::vector<Dim> dims = x.shape().dims();
  dims.back() = heads;
  dims.push_back(x.shape().dims().back().value() / heads);
  return x.reshape(Shape(std::move(dims))).transpose(-2, -3);
}

Tensor join_heads(const Tensor& x) {
  const Tensor y = x.transpose(-2, -3);
  std::vector<Dim> dims = y.shape().dims();
  const int64_t size = dims.back().value();
  dims.pop_back();
  dims.back() = dims.back().value() * size;
  return y.reshape(Shape(std::move(dims)));
}

/// `size`, after all arguments of `layer` were checked. Its submodules would report errors under their own names.
int64_t checked(std::string_view layer, int64_t size, int64_t heads, double dropout, Loc where) {
  require_size(fmt::format("{}: size", layer), size, where);
  require_size(fmt::format("{}: heads", layer), heads, where);
  if (size % heads)
    throw UsageError(fmt::format("{}: the size {} does not fall into {} heads; choose a divisor", layer, size, heads),
                     where);
  if (!(dropout >= 0 && dropout < 1))
    throw UsageError(fmt::format("{}: dropout is {}; a probability in [0, 1) is needed", layer, dropout), where);
  return size;
}
int64_t checked(int64_t size, int64_t heads, const TransformerOptions& options, Loc where) {
  require_size("TransformerEncoderLayer: feedforward", options.feedforward, where);
  return checked("TransformerEncoderLayer", size, heads, options.dropout, where);
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t size, int64_t heads, MultiheadOptions options, Loc where)
    : out_proj(checked("MultiheadAttention", size, heads, options.dropout, where), size, options.bias, where),
      heads(heads),
      dropout(options.dropout) {
  const tensor::OuterCall call("MultiheadAttention", where);
  in_proj_weight = init::xavier_uniform({3 * size, size}).requires_grad();
  if (!options.bias) return;
  in_proj_bias = zeros({3 * size}).requires_grad();
  out_proj.bias = zeros({size}).requires_grad();
}

Tensor MultiheadAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionOptions& attention, Loc where) const {
  const tensor::OuterCall call("MultiheadAttention", where);
  const std::vector<Tensor> weights = in_proj_weight.chunk(3);
  const std::vector<Tensor> biases = in_proj_bias.defined() ? in_proj_bias.chunk(3) : std::vector<Tensor>(3);
  const Tensor* inputs[] = {&q, &k, &v};
  Tensor made[3];
  for (size_t i = 0; i < 3; ++i) {
    require_last(*inputs[i], {in_proj_weight.shape()[1]}, "MultiheadAttention");
    made[i] = linear(*inputs[i], weights[i], biases[i]);
  }
  return attend(made[0], made[1], made[2], attention);
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionOptions& attention, Loc where) const {
  const tensor::OuterCall call("MultiheadAttention", where);
  require_last(x, {in_proj_weight.shape()[1]}, "MultiheadAttention");
  const std::vector<Tensor> made = linear(x, in_proj_weight, in_proj_bias).chunk(3, -1);
  return attend(made[0], made[1], made[2], attention);
}

Tensor MultiheadAttention::attend(Tensor q, Tensor k, Tensor v, const AttentionOptions& attention) const {
  AttentionOptions options = attention;
  options.dropout = training ? dropout : 0.0;
  q = split_heads(q, heads), k = split_heads(k, heads), v = split_heads(v, heads);
  return out_proj(join_heads(scaled_dot_product_attention(q, k, v, options)));
}

Tensor RotaryEmbedding::operator()(const Tensor& x, int64_t offset, Loc where) const {
  const tensor::OuterCall call("RotaryEmbedding", where);
  RotaryOptions shifted = options;
  if (__builtin_add_overflow(shifted.offset, offset, &shifted.offset))
    refuse(fmt::format("the offsets {} and {} of RotaryEmbedding add up to more than an int64 holds; give smaller ones",
                       options.offset, offset));
  return rotary_embedding(x, shifted);
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t size, int64_t heads, TransformerOptions options, Loc where)
    : self_attn(checked(size, heads, options, where), heads, {.dropout = options.dropout}, where),
      linear1(size, options.feedforward, true, where),
      linear2(options.feedforward, size, true, where),
      norm1(size, options.eps, where),
      norm2(size, options.eps, where),
      dropout(options.dropout, where),
      dropout1(options.dropout, where),
      dropout2(options.dropout, where),
      gelu(options.gelu),
      norm_first(options.norm_first) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionOptions& attention, Loc where) const {
  const tensor::OuterCall call("TransformerEncoderLayer", where);
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

}  // namespace nn
}  // namespace v0
}  // namespace sinter
