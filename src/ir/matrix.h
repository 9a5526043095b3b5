// Matrices along the last two axes of a tensor.
#pragma once

#include <utility>

#include "ir/build.h"

namespace sinter::ir {

/// Rows become columns.
UOp matrix_transpose(UOp x);
/// a b of matrices with equal batches.
UOp matrix_product(UOp a, UOp b);
/// x below, above or on the diagonal, zero elsewhere. Triangles have their diagonal, unless `diagonal` is false.
UOp lower_triangle(UOp x, bool diagonal = true);
UOp upper_triangle(UOp x);
UOp on_diagonal(UOp x);
/// Unit matrices, or the leading parts of them, of the shape of x.
UOp unit_matrix_like(UOp x);
/// The box [begin, end) of rows and columns.
UOp matrix_block(UOp x, std::pair<int64_t, int64_t> rows, std::pair<int64_t, int64_t> columns);
/// The shape of x with other sizes of its matrices.
Shape matrix_shape(UOp x, const Dim& rows, const Dim& columns);

}  // namespace sinter::ir
