// The networks of include/sinter/nn/transformer.h.
#include "sinter/nn/transformer.h"

#include <fmt/core.h>

#include <limits>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

TransformerDecoderLayer::TransformerDecoderLayer(int64_t size, int64_t heads, TransformerOptions options, Loc where)
    : self_attn(checked_attention("TransformerDecoderLayer", size, heads, options, where), heads,
                {.dropout = options.dropout}, where),
      multihead_attn(size, heads, {.dropout = options.dropout}, where),
      linear1(size, options.dim_feedforward, true, where),
      linear2(options.dim_feedforward, size, true, where),
      norm1(size, options.eps, where),
      norm2(size, options.eps, where),
      norm3(size, options.eps, where),
      dropout(options.dropout, where),
      dropout1(options.dropout, where),
      dropout2(options.dropout, where),
      dropout3(options.dropout, where),
      gelu(options.gelu),
      norm_first(options.norm_first) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& own,
                                           const AttentionOptions& cross, Loc where) const {
  const OuterCall call("TransformerDecoderLayer", where);
  const auto attend = [&](const Tensor& t) { return dropout1(self_attn(t, own)); };
  const auto look_up = [&](const Tensor& t) { return dropout2(multihead_attn(t, memory, memory, cross)); };
  const auto feed = [&](const Tensor& t) {
    const Tensor inner = linear1(t);
    return dropout3(linear2(dropout(gelu ? sinter::gelu(inner) : relu(inner))));
  };
  if (norm_first) {
    const Tensor y = x + attend(norm1(x)), z = y + look_up(norm2(y));
    return z + feed(norm3(z));
  }
  const Tensor y = norm1(x + attend(x)), z = norm2(y + look_up(y));
  return norm3(z + feed(z));
}

namespace {

template <class Layer>
std::vector<Layer> copies(std::string_view name, const Layer& layer, int64_t count, Loc where) {
  require_size(fmt::format("{}: the number of layers", name), count, where);
  std::vector<Layer> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(clone(layer));
  return made;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer, int64_t count,
                                       std::optional<LayerNorm> last, Loc where)
    : layers(copies("TransformerEncoder", layer, count, where)), norm(std::move(last)) {}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionOptions& attention, Loc where) const {
  const OuterCall call("TransformerEncoder", where);
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers) y = layer(y, attention);
  return norm ? (*norm)(y) : y;
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer, int64_t count,
                                       std::optional<LayerNorm> last, Loc where)
    : layers(copies("TransformerDecoder", layer, count, where)), norm(std::move(last)) {}

Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& own,
                                      const AttentionOptions& cross, Loc where) const {
  const OuterCall call("TransformerDecoder", where);
  Tensor y = x;
  for (const TransformerDecoderLayer& layer : layers) y = layer(y, memory, own, cross);
  return norm ? (*norm)(y) : y;
}

Transformer::Transformer(int64_t size, int64_t heads, int64_t encoder_layers, int64_t decoder_layers,
                         TransformerOptions options, Loc where)
    : encoder(
          TransformerEncoderLayer(checked_attention("Transformer", size, heads, options, where), heads, options, where),
          encoder_layers, LayerNorm(size, options.eps, where), where),
      decoder(TransformerDecoderLayer(size, heads, options, where), decoder_layers, LayerNorm(size, options.eps, where),
              where) {
  walk::members(
      "", *this,
      [&](const std::string&, Tensor& t) {
        if (t.defined() && t.rank() > 1) t = init::xavier_uniform(t.shape()).requires_grad();
      },
      walk::Ignore());
}

Tensor Transformer::generate_square_subsequent_mask(int64_t size, Device device, Loc where) {
  const OuterCall call("generate_square_subsequent_mask", where);
  require_size("generate_square_subsequent_mask: size", size, where);
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), float32, device), 1);
}

Tensor Transformer::operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks,
                               Loc where) const {
  const OuterCall call("Transformer", where);
  return decoder(target, encoder(source, masks.source), masks.target, masks.memory);
}

}  // namespace sinter::inline v0::nn
