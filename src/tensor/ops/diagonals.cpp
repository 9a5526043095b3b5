// Diagonals and triangles of matrices. A diagonal is gathered by constant indices and a vector is put on one by a mask:
// both fuse with what is around them. By movement alone (rows one longer than those of the matrix) their gradients
// would divide an index for each element.
#include "tensor/ops/diagonals.h"

#include <algorithm>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
namespace tensor {

UOp take_diagonal(UOp x, int64_t a, int64_t b) {
  Shape one = x->shape;
  one[b] = 1;
  return drop_axes(gather(x, position(one, a, x->device), b), {b});
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// Two different axes of a tensor of `rank` axes like x, counted from 0.
std::pair<int64_t, int64_t> two_axes(UOp x, size_t rank, int64_t a, int64_t b) {
  const auto r = static_cast<int64_t>(rank);
  for (int64_t axis : {a, b})
    if (axis < -r || axis >= r)
      usage_error("axis {} is out of range for a diagonal of {}; its axes are {} to {}", axis, describe(x), -r, r - 1);
  const int64_t first = a < 0 ? a + r : a, second = b < 0 ? b + r : b;
  if (first == second) usage_error("axes {} and {} of {} are the same; a diagonal is of 2 axes", a, b, describe(x));
  return {first, second};
}

/// The order of axes in which the last two of `rank` axes come to places a and b.
Ints last_two_to(size_t rank, int64_t a, int64_t b) {
  Ints order;
  int64_t next = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    order.push_back(i == a ? static_cast<int64_t>(rank) - 2 : i == b ? static_cast<int64_t>(rank) - 1 : next++);
  return order;
}

UOp diagonal_of(UOp x, int64_t offset, int64_t a, int64_t b) {
  const auto [rows_axis, columns_axis] = two_axes(x, x->rank(), a, b);
  Ints order = others(x->rank(), {std::min(rows_axis, columns_axis), std::max(rows_axis, columns_axis)});
  order.push_back(rows_axis), order.push_back(columns_axis);
  UOp matrix = permute(x, order);
  const int64_t axis = static_cast<int64_t>(x->rank()) - 2;
  if (!offset && matrix->shape[-1] == matrix->shape[-2]) return take_diagonal(matrix, axis, axis + 1);
  const int64_t rows = fixed_size(x, rows_axis, "an axis of this diagonal"),
                columns = fixed_size(x, columns_axis, "an axis of this diagonal");
  // Beyond the corners, where the diagonal is empty, the number of the offset does not matter.
  const int64_t row = offset < 0 ? std::min(rows, -std::max(offset, -rows)) : 0,
                column = offset > 0 ? std::min(columns, offset) : 0, n = std::min(rows - row, columns - column);
  UOp square = tensor::shrink_axis(tensor::shrink_axis(matrix, axis, row, row + n), axis + 1, column, column + n);
  return take_diagonal(square, axis, axis + 1);
}

UOp embedded_diagonal(UOp x, int64_t offset, int64_t a, int64_t b) {
  if (!x->rank()) usage_error("{} has {} axes; give a vector, or vectors in the last axis", describe(x), x->rank());
  const auto [rows_axis, columns_axis] = two_axes(x, x->rank() + 1, a, b);
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  Shape square = x->shape;
  square.push_back(square[last]);
  check_shape(square);
  UOp y = where(eq(position(square, last, x->device), position(square, last + 1, x->device)),
                expand(x, square, {last + 1}), full(*x->graph, square, x->dtype, 0, x->device));
  if (offset) {
    const int64_t most = Shape::kMaxElements, shift = std::clamp(offset, -most, most),
                  away = shift < 0 ? -shift : shift, n = fixed_size(x, last, "put beside the main diagonal") + away;
    square[last] = square[last + 1] = n;
    check_shape(square);
    y = pad_axis(pad_axis(y, last, shift < 0 ? away : 0, n), last + 1, shift > 0 ? away : 0, n);
  }
  return permute(y, last_two_to(y->rank(), rows_axis, columns_axis));
}

/// x with 0 below the diagonal `offset` if `upper`, above it otherwise.
UOp triangle_of(UOp x, int64_t offset, bool upper) {
  if (x->rank() < 2) usage_error("{} has {} axes and needs at least 2, those of a matrix", describe(x), x->rank());
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  UOp rows = position(x->shape, last - 1, x->device), columns = position(x->shape, last, x->device);
  const int64_t most = Shape::kMaxElements;
  UOp at = rows + like(rows, Scalar::of(DType::I64, std::clamp(offset, -most, most)));
  return where(upper ? le(at, columns) : le(columns, at), x, like(x, Scalar::of(x->dtype, 0)));
}

Tensor triangle_indices(std::string_view name, int64_t rows, int64_t columns, int64_t offset, bool upper, Device device,
                        Loc where) {
  Call call(name, where);
  check_shape({rows, columns});
  const int64_t most = Shape::kMaxElements, shift = std::clamp(offset, -most, most);
  std::vector<int64_t> row_of, column_of;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t border = std::clamp<int64_t>(r + shift + !upper, 0, columns);
    for (int64_t c = upper ? border : 0, end = upper ? columns : border; c < end; ++c) {
      row_of.push_back(r);
      column_of.push_back(c);
    }
  }
  const auto count = static_cast<int64_t>(row_of.size());
  row_of.insert(row_of.end(), column_of.begin(), column_of.end());
  return from(row_of, {2, count}, device, where);
}

}  // namespace

Tensor diagonal(const Tensor& x, int64_t offset, int64_t a, int64_t b, Loc where) {
  Call call("diagonal", where);
  return wrap(diagonal_of(node_of(x), offset, a, b));
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t a, int64_t b, Loc where) {
  Call call("diag_embed", where);
  return wrap(embedded_diagonal(node_of(x), offset, a, b));
}

Tensor diag(const Tensor& x, int64_t offset, Loc where) {
  Call call("diag", where);
  UOp n = node_of(x);
  if (n->rank() != 1 && n->rank() != 2)
    usage_error("{} has {} axes and must have 1 or 2; diagonal and diag_embed take more", describe(n), n->rank());
  return wrap(n->rank() == 1 ? embedded_diagonal(n, offset, 0, 1) : diagonal_of(n, offset, 0, 1));
}

Tensor trace(const Tensor& x, Loc where) {
  Call call("trace", where);
  UOp n = node_of(x);
  if (n->rank() != 2)
    usage_error("{} has {} axes and must have 2; sum a diagonal() for batches", describe(n), n->rank());
  return wrap(diagonal_of(n, 0, 0, 1)).sum(all_axes, false, where);
}

Tensor triu(const Tensor& x, int64_t offset, Loc where) {
  Call call("triu", where);
  return wrap(triangle_of(node_of(x), offset, true));
}
Tensor tril(const Tensor& x, int64_t offset, Loc where) {
  Call call("tril", where);
  return wrap(triangle_of(node_of(x), offset, false));
}
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset, Device device, Loc where) {
  return triangle_indices("triu_indices", rows, columns, offset, true, device, where);
}
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset, Device device, Loc where) {
  return triangle_indices("tril_indices", rows, columns, offset, false, device, where);
}

}  // namespace v0
}  // namespace sinter
