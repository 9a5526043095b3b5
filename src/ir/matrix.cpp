// Views, one product, and selections by row and column number.
#include "ir/matrix.h"

#include "ir/axis_lists.h"

namespace sinter::ir {
namespace {

UOp row_number(UOp x) { return axis_iota(*x->graph, x->shape, static_cast<int64_t>(x->rank()) - 2, x->device); }
UOp column_number(UOp x) { return axis_iota(*x->graph, x->shape, static_cast<int64_t>(x->rank()) - 1, x->device); }
UOp only(UOp inside, UOp x) { return where(inside, x, like(x, 0.0)); }

}  // namespace

UOp matrix_transpose(UOp x) {
  Ints order = all_axes(x->rank());
  std::swap(order[x->rank() - 2], order[x->rank() - 1]);
  return permute(x, order);
}

UOp matrix_product(UOp a, UOp b) {
  b = matrix_transpose(b);
  const auto axis = static_cast<int64_t>(a->rank());
  std::vector<Dim> dims(a->shape.begin(), a->shape.end());
  dims.insert(dims.end() - 1, b->shape[axis - 2]);
  const Shape all(dims);
  return sum(expand(a, all, {axis - 1}) * expand(b, all, {axis - 2}), {axis});
}

UOp lower_triangle(UOp x, bool diagonal) {
  return only(diagonal ? le(column_number(x), row_number(x)) : lt(column_number(x), row_number(x)), x);
}
UOp upper_triangle(UOp x) { return only(le(row_number(x), column_number(x)), x); }
UOp on_diagonal(UOp x) { return only(eq(row_number(x), column_number(x)), x); }
UOp unit_matrix_like(UOp x) { return cast(eq(row_number(x), column_number(x)), x->dtype); }

UOp matrix_block(UOp x, std::pair<int64_t, int64_t> rows, std::pair<int64_t, int64_t> columns) {
  Region box = full_region(x->shape);
  box[x->rank() - 2] = {rows.first, rows.second};
  box[x->rank() - 1] = {columns.first, columns.second};
  return shrink(x, box);
}

Shape matrix_shape(UOp x, const Dim& rows, const Dim& columns) {
  Shape shape = x->shape;
  shape[x->rank() - 2] = rows;
  shape[x->rank() - 1] = columns;
  return shape;
}

}  // namespace sinter::ir
