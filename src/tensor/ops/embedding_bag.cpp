// Rows of a table and bags of them, for embedding_bag() and the layers.
#include <limits>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The index, whose type may be too narrow for numbers of rows, as int64.
/// A large uint64 must not turn negative, which would count from the end.
Tensor widened(const Tensor& index) {
  const bool large = index.dtype() == uint64;
  return (large ? minimum(index, std::numeric_limits<int64_t>::max()) : index).to(int64);
}

/// bool, of the shape of index: whether it names the row.
Tensor names_row(const Tensor& index, int64_t row, const Tensor& table) {
  const Tensor wide = widened(index);
  return (wide == row) | (wide == row - table.shape()[0].value());
}

/// The row of padding, counted from 0.
std::optional<int64_t> row_of_padding(std::optional<int64_t> given, const Tensor& table) {
  if (!given) return given;
  const int64_t rows = table.size(0).value();
  if (*given < -rows || *given >= rows)
    usage_error("padding_idx is {}, but there are {} rows; give one of them", *given, rows);
  return *given < 0 ? *given + rows : *given;
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

void require_bags(const Tensor& index, const Tensor& offsets, BagMode mode, const Tensor& weights) {
  if (offsets.defined() ? index.rank() != 1 || offsets.rank() != 1 : index.rank() != 2)
    usage_error("the index has shape {}, offsets {}; give [bags, n] without offsets, or [n] with [bags]",
                to_string(index.shape()), offsets.defined() ? to_string(offsets.shape()) : "none");
  if (weights.defined() && (mode != BagMode::Sum || !(weights.shape() == index.shape())))
    usage_error("per_sample_weights of shape {} for an index of shape {}; only sums have them, one per index",
                to_string(weights.shape()), to_string(index.shape()));
}

}  // namespace

Tensor embedding(const Tensor& index, const Tensor& weight, std::optional<int64_t> padding_idx, Loc where) {
  const OuterCall call("embedding", where);
  const Tensor rows = embedding(index, weight, where);
  const std::optional<int64_t> padding = row_of_padding(padding_idx, weight);
  return padding ? sinter::where(names_row(index, *padding, weight).unsqueeze(-1), rows.detach(), rows) : rows;
}

Tensor embedding_bag(const Tensor& index, const Tensor& weight, const Tensor& offsets,
                     const EmbeddingBagOptions& options, const Tensor& weights, Loc where) {
  const OuterCall call("embedding_bag", where);
  require_bags(index, offsets, options.mode, weights);
  const std::optional<int64_t> padding = row_of_padding(options.padding_idx, weight);
  Tensor bag;
  if (offsets.defined()) bag = bag_of_each(offsets, index.shape()[0]);
  Tensor rows = embedding(bag.defined() ? index_in_bags(index, bag, weight) : index, weight, padding);
  if (weights.defined()) rows = rows * weights.unsqueeze(-1);
  const Tensor counts = padding ? ~names_row(index, *padding, weight) : ones(index.shape(), boolean, index.device());
  if (!offsets.defined()) return join_rows(rows, counts, options.mode);

  const int64_t all = offsets.shape()[0].value(), bags = options.include_last_offset ? all - 1 : all;
  if (bags < 0) usage_error("the offsets have shape [0]; with include_last_offset give at least 1");
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

}  // namespace sinter::inline v0
