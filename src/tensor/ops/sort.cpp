// Values are picked by the positions that Op::Sort gives, so gradients are those of picking.
#include "tensor/ops/sort.h"

#include <limits>

#include "sinter/sorting.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter {
namespace tensor {

SortRows rows_along(UOp x, int64_t axis) {
  SortRows rows;
  rows.scalar = x->rank() == 0;
  if (rows.scalar) x = reshape(x, {1});
  rows.axis = axis_of(x, axis);
  rows.size = fixed_size(x, rows.axis, "sorted", ", or sort along another one");
  if (rows.size > std::numeric_limits<int32_t>::max())
    usage_error("axis {} of {} has {} elements; at most 2^31 - 1 are sorted", rows.axis, describe(x), rows.size);
  rows.x = contiguous(move_axis(x, rows.axis, static_cast<int64_t>(x->rank()) - 1));
  return rows;
}

SortRows all_in_one(UOp x) {
  for (size_t a = 0; a < x->rank(); ++a) fixed_size(x, static_cast<int64_t>(a), "sorted");
  return rows_along(reshape(x, {x->shape.numel()}), 0);
}

UOp SortRows::back(UOp y) const { return scalar ? drop_axes(y, {0}) : move_axis(y, last(), axis); }
UOp SortRows::back_as_one(UOp y, bool keepdim) const {
  return scalar || !keepdim ? drop_axes(y, {last()}) : move_axis(y, last(), axis);
}

UOp is_nan(UOp x) { return ne(x, x); }

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// Elements of ranks `first` to `first + count` - 1, and their positions, with the axis in its place.
Ranked ranked(const SortRows& rows, int64_t first, int64_t count, bool descending) {
  UOp at = sort_positions(rows.x, first, count, descending);
  return {wrap(rows.back(gather(rows.x, at, rows.last()))), wrap(rows.back(at))};
}

/// Elements at positions, one per row, without their axis.
Ranked one_per_row(const SortRows& rows, UOp at, bool keepdim) {
  return {wrap(rows.back_as_one(gather(rows.x, at, rows.last()), keepdim)), wrap(rows.back_as_one(at, keepdim))};
}

/// int64, one per row: how many elements are NaN.
UOp count_nan(const SortRows& rows) {
  UOp count = sum(cast(is_nan(rows.x), DType::I64), {rows.last()});
  return insert_axis(count, rows.last());
}

Ranked median_of(const SortRows& rows, bool keepdim, bool skips) {
  if (rows.size == 0)
    usage_error("{} has 0 elements along axis {}, and 0 elements have no median; check the size first",
                describe(rows.x), rows.axis);
  const int64_t middle = (rows.size - 1) / 2, last = rows.last();
  if (!is_float(rows.x->dtype)) return one_per_row(rows, sort_positions(rows.x, middle, 1, false), keepdim);
  if (skips) {
    UOp valid = like(count_nan(rows), static_cast<double>(rows.size)) - count_nan(rows);
    UOp rank = idiv(maximum(valid - 1.0, like(valid, 0.0)), like(valid, 2.0));
    return one_per_row(rows, gather(sort_positions(rows.x, 0, rows.size, false), rank, last), keepdim);
  }
  UOp at = sort_positions(rows.x, middle, 1, false);
  UOp x = detach(rows.x), any = reduce(Combine::Max, is_nan(x), {last});
  UOp first = arg_reduce(Combine::ArgMax, to_compute_type(x), position(x->shape, last, x->device), {last});
  at = where(insert_axis(any, last), insert_axis(first, last), at);
  return one_per_row(rows, at, keepdim);
}

Tensor without_indices(const Ranked& all) { return all.values; }

}  // namespace

Ranked sort(Arg x, int64_t axis, bool descending, bool) {
  Call call("sort", x.where());
  const SortRows rows = rows_along(operand(x), axis);
  return ranked(rows, 0, rows.size, descending);
}

Tensor argsort(Arg x, int64_t axis, bool descending, bool) {
  Call call("argsort", x.where());
  const SortRows rows = rows_along(operand(x), axis);
  return wrap(rows.back(sort_positions(rows.x, 0, rows.size, descending)));
}

Tensor msort(Arg x) {
  Call call("msort", x.where());
  const SortRows rows = rows_along(operand(x), 0);
  return without_indices(ranked(rows, 0, rows.size, false));
}

Ranked topk(Arg x, int64_t k, int64_t axis, bool largest, bool) {
  Call call("topk", x.where());
  UOp n = operand(x);
  const SortRows rows = rows_along(n, axis);
  if (k < 0 || k > rows.size)
    usage_error("k is {}, and {} has {} elements along axis {}; give 0 to {}", k, describe(n), rows.size, rows.axis,
                rows.size);
  return ranked(rows, 0, k, largest);
}

Ranked kthvalue(Arg x, int64_t k, int64_t axis, bool keepdim) {
  Call call("kthvalue", x.where());
  UOp n = operand(x);
  const SortRows rows = rows_along(n, axis);
  if (k < 1 || k > rows.size)
    usage_error("k is {}, and {} has {} elements along axis {}; give 1 to {}", k, describe(n), rows.size, rows.axis,
                rows.size);
  return one_per_row(rows, sort_positions(rows.x, k - 1, 1, false), keepdim);
}

Tensor median(Arg x) {
  Call call("median", x.where());
  return without_indices(median_of(all_in_one(operand(x)), false, false));
}
Ranked median(Arg x, int64_t axis, bool keepdim) {
  Call call("median", x.where());
  return median_of(rows_along(operand(x), axis), keepdim, false);
}
Tensor nanmedian(Arg x) {
  Call call("nanmedian", x.where());
  return without_indices(median_of(all_in_one(operand(x)), false, true));
}
Ranked nanmedian(Arg x, int64_t axis, bool keepdim) {
  Call call("nanmedian", x.where());
  return median_of(rows_along(operand(x), axis), keepdim, true);
}

Ranked mode(Arg x, int64_t axis, bool keepdim) {
  Call call("mode", x.where());
  UOp n = operand(x);
  const SortRows rows = rows_along(n, axis);
  if (rows.size == 0)
    usage_error("{} has 0 elements along axis {}, and 0 elements have no mode; check the size first", describe(n),
                rows.axis);
  const int64_t last = rows.last();
  UOp at = sort_positions(rows.x, 0, rows.size, false);
  UOp values = gather(detach(rows.x), at, last), here = position(at->shape, last, at->device);
  // The place where each run of equal elements begins; the longest run ends where the distance from it is largest.
  UOp before = pad_axis(tensor::shrink_axis(values, last, 0, rows.size - 1), last, 1, rows.size);
  UOp begin = where(ne(values, before), here, like(here, 0.0));
  UOp length = here - scan(Combine::Max, begin, last);
  UOp end = arg_reduce(Combine::ArgMax, length, here, {last});
  return one_per_row(rows, gather(at, insert_axis(end, last), last), keepdim);
}

}  // namespace v0
}  // namespace sinter
