// Embedding and EmbeddingBag of include/sinter/nn/layers.h.
#include <fmt/core.h>

#include <limits>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/nn/layers.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

/// The table, normal(0, 1) but for the row of padding, and that row counted from 0.
Tensor make_table(const char* layer, int64_t count, int64_t size, std::optional<int64_t>& padding, Loc where) {
  require_size(fmt::format("{}: count", layer), count, where);
  require_size(fmt::format("{}: size", layer), size, where);
  Tensor table = init::normal({count, size});
  if (!padding) return table.requires_grad();
  if (*padding < -count || *padding >= count)
    throw UsageError(
        fmt::format("{}: padding_idx is {}, but there are {} rows; give one of them", layer, *padding, count), where);
  if (*padding < 0) *padding += count;
  return sinter::where((arange(count) == *padding).unsqueeze(1), 0.0, table).requires_grad();
}

/// The index, whose type may be too narrow for numbers of rows, as int64. A large uint64 must not turn negative, which
/// would count from the end.
Tensor widened(const Tensor& index) {
  const bool large = index.dtype() == uint64;
  return (large ? minimum(index, std::numeric_limits<int64_t>::max()) : index).to(int64);
}

/// bool, of the shape of index: whether it names the row.
Tensor names_row(const Tensor& index, int64_t row, const Tensor& table) {
  const Tensor wide = widened(index);
  return (wide == row) | (wide == row - table.shape()[0].value());
}

/// One row per index; those of padding have no history.
Tensor rows_of(const Tensor& index, const Tensor& table, const std::optional<int64_t>& padding) {
  const Tensor rows = embedding(index, table);
  return padding ? where(names_row(index, *padding, table).unsqueeze(-1), rows.detach(), rows) : rows;
}

/// The number of the bag of each of `count` elements, -1 before the first. Bags begin at the offsets.
Tensor bag_of_each(const Tensor& offsets, const Dim& count) {
  if (count.symbolic())  // no axis can be larger than that by 1: each element is compared with each offset
    return (offsets.unsqueeze(0) <= arange(count, int64, offsets.device()).unsqueeze(1)).sum(1) - 1;
  const Tensor begins = scatter_add(zeros({count.value() + 1}, int64, offsets.device()), 0, offsets, 1);
  return cumsum(begins, 0).slice(0, {0, count.value()}) - 1;
}

/// The index, out of range for the table where the element is in no bag: the read of a result reports that.
Tensor index_in_bags(const Tensor& index, const Tensor& bag, const Tensor& table) {
  if (!is_integer(index.dtype())) return index;  // which embedding() refuses
  return where((bag < 0).to(index.device()), table.shape()[0].value(), widened(index));
}

/// `table`, [bags, n, size], joined over n where `counts` is true.
Tensor join_rows(const Tensor& table, const Tensor& counts, BagMode mode) {
  const Tensor rows = is_float(table.dtype()) ? table : table.to(float32);
  const Tensor mask = counts.unsqueeze(-1);
  if (mode == BagMode::Max) {
    const double lowest = -std::numeric_limits<double>::infinity();
    Tensor held = where(mask, rows, lowest);
    if (!rows.shape()[1].symbolic())  // one more row: there may be none
      held = cat({held, full({rows.shape()[0], 1, rows.shape()[2]}, lowest, rows.dtype(), rows.device())}, 1);
    const Tensor most = held.max(1);
    return where(counts.any(1, true), most, 0.0);
  }
  const Tensor total = where(mask, rows, 0.0).sum(1);
  return mode == BagMode::Sum ? total : total / maximum(counts.sum(1, true), 1).to(total.dtype());
}

}  // namespace

Embedding::Embedding(int64_t count, int64_t size, EmbeddingOptions options, Loc where)
    : padding_idx(options.padding_idx) {
  const tensor::OuterCall call("Embedding", where);
  weight = make_table("Embedding", count, size, padding_idx, where);
}

Tensor Embedding::operator()(const Tensor& index, Loc where) const {
  const tensor::OuterCall call("Embedding", where);
  return rows_of(index, weight, padding_idx);
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t size, EmbeddingBagOptions options, Loc where) : options(options) {
  const tensor::OuterCall call("EmbeddingBag", where);
  weight = make_table("EmbeddingBag", count, size, this->options.padding_idx, where);
}

Tensor EmbeddingBag::operator()(const Tensor& index, Loc where) const { return (*this)(index, {}, {}, where); }

Tensor EmbeddingBag::operator()(const Tensor& index, const Tensor& offsets, const Tensor& per_sample_weights,
                                Loc where) const {
  const tensor::OuterCall call("EmbeddingBag", where);
  if (offsets.defined() ? index.rank() != 1 || offsets.rank() != 1 : index.rank() != 2)
    refuse(
        fmt::format("the index of EmbeddingBag has shape {}, offsets {}; give [bags, n] without offsets, or [n] with "
                    "[bags]",
                    to_string(index.shape()), offsets.defined() ? to_string(offsets.shape()) : "none"));
  if (per_sample_weights.defined() && (options.mode != BagMode::Sum || !(per_sample_weights.shape() == index.shape())))
    refuse(fmt::format("per_sample_weights of shape {} for an index of shape {}; only sums have them, one per index",
                       to_string(per_sample_weights.shape()), to_string(index.shape())));
  Tensor bag;
  if (offsets.defined()) bag = bag_of_each(offsets, index.shape()[0]);
  Tensor rows = rows_of(bag.defined() ? index_in_bags(index, bag, weight) : index, weight, options.padding_idx);
  if (per_sample_weights.defined()) rows = rows * per_sample_weights.unsqueeze(-1);
  const Tensor counts = options.padding_idx ? ~names_row(index, *options.padding_idx, weight)
                                            : ones(index.shape(), boolean, index.device());
  if (!offsets.defined()) return join_rows(rows, counts, options.mode);

  const int64_t all = offsets.shape()[0].value(), bags = options.include_last_offset ? all - 1 : all;
  if (bags < 0) refuse("the offsets of EmbeddingBag have shape [0]; with include_last_offset give at least 1");
  if (options.mode == BagMode::Max) {
    const Tensor member = (bag.unsqueeze(0) == arange(bags, int64, bag.device()).unsqueeze(1)) & counts;
    return join_rows(rows.unsqueeze(0).expand({bags, index.shape()[0], -1}), member, BagMode::Max);
  }
  const auto summed = [&](const Tensor& values) {
    const Tensor base = zeros({all, values.shape()[1]}, values.dtype(), values.device());
    return scatter_add(base, 0, bag.unsqueeze(1).expand(values.shape()), values).slice(0, {0, bags});
  };
  Tensor total = summed(sinter::where(counts.unsqueeze(1), rows, 0.0));
  if (options.mode == BagMode::Sum) return total;
  return total / maximum(summed(counts.to(total.dtype()).unsqueeze(1)), 1);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
