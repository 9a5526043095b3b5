// Embedding and EmbeddingBag of include/sinter/nn/layers.h.
#include <fmt/core.h>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/nn/layers.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

/// The table, normal(0, 1) but for the row of padding, and that row counted from 0.
Tensor make_table(const char* layer, int64_t count, int64_t size, std::optional<int64_t>& padding, Loc where) {
  require_size(fmt::format("{}: count", layer), count, where);
  require_size(fmt::format("{}: size", layer), size, where);
  Tensor table = init::normal({count, size});
  if (!padding) return table.requires_grad();
  if (*padding < -count || *padding >= count)
    usage_error_at(where, "{}: padding_idx is {}, but there are {} rows; give one of them", layer, *padding, count);
  if (*padding < 0) *padding += count;
  return sinter::where((arange(count) == *padding).unsqueeze(1), 0.0, table).requires_grad();
}

}  // namespace

Embedding::Embedding(int64_t count, int64_t size, EmbeddingOptions options, Loc where)
    : padding_idx(options.padding_idx) {
  const OuterCall call("Embedding", where);
  weight = make_table("Embedding", count, size, padding_idx, where);
}

Tensor Embedding::operator()(const Tensor& index, Loc where) const {
  const OuterCall call("Embedding", where);
  return embedding(index, weight, padding_idx, where);
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t size, EmbeddingBagOptions options, Loc where) : options(options) {
  const OuterCall call("EmbeddingBag", where);
  weight = make_table("EmbeddingBag", count, size, this->options.padding_idx, where);
}

Tensor EmbeddingBag::operator()(const Tensor& index, Loc where) const { return (*this)(index, {}, {}, where); }

Tensor EmbeddingBag::operator()(const Tensor& index, const Tensor& offsets, const Tensor& per_sample_weights,
                                Loc where) const {
  const OuterCall call("EmbeddingBag", where);
  return embedding_bag(index, weight, offsets, options, per_sample_weights, where);
}

}  // namespace sinter::inline v0::nn
