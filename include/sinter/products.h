// Products of matrices and vectors.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup products Products
/// Computed in the common type; on bools any(a & b). Sums of float products use fused multiply-adds (docs/semantics.md,
/// F1).
/// @snippet products.cpp products
/// @{

/// NumPy's matmul: [.., m, k] x [.., k, n] gives [.., m, n]. 1-D operands are vectors; their axis is dropped from the
/// result. Leading axes are batches and broadcast. Inner sizes that differ are a UsageError.
Tensor matmul(Arg a, Arg b);
/// matmul of two matrices; other ranks are a UsageError.
Tensor mm(Arg a, Arg b);
/// matmul of two batches of matrices, [b, m, k] x [b, k, n]; other ranks, and batches that differ, are a UsageError.
Tensor bmm(Arg a, Arg b);
/// matmul of a matrix [m, k] and a vector [k]; other ranks are a UsageError.
Tensor mv(Arg a, Arg b);
/// x W^T + b, a fully connected layer: x [.., in], weight [out, in], bias [out] or none; gives [.., out]. Other shapes
/// are a UsageError. Under autocast the result has the type of the product.
Tensor linear(Arg x, const Tensor& weight, const Tensor& bias = {});
/// Inner product of two vectors [n], a scalar.
Tensor dot(Arg a, Arg b);
/// Sums of products along one axis of two tensors that broadcast.
Tensor vecdot(Arg a, Arg b, int64_t axis = -1);
/// Sums of products along the last axes, which have one size: [.., k] and [~, k] give [.., ~]. The product if one of
/// them is a scalar.
Tensor inner(Arg a, Arg b);
/// All products of elements of two vectors: [m] and [n] give [m, n].
Tensor outer(Arg a, Arg b);
/// Sums of products along the last `count` axes of a and the first `count` of b; 0 gives all products.
Tensor tensordot(Arg a, Arg b, int64_t count = 2);
/// Sums of products along axes_a[i] of a and axes_b[i] of b, which have one size. The result has the other axes of a,
/// then those of b.
Tensor tensordot(Arg a, Arg b, const std::vector<int64_t>& axes_a, const std::vector<int64_t>& axes_b);
/// The cross product of vectors of 3 along an axis; the others broadcast. Not on bools.
Tensor cross(Arg a, Arg b, int64_t axis = -1);
/// Kronecker product: each element of a times all of b, sizes multiplied axis by axis. The smaller rank gets leading
/// axes.
Tensor kron(Arg a, Arg b);
/// Sums of products by index letters, "bij,bjk->bik"; "..." stands for leading axes that broadcast. Without "->", the
/// result has the letters that occur once, in alphabetical order. A letter that occurs twice in one operand takes the
/// diagonal.
Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Loc where = Loc::current());
/// The same: einsum("ij,jk->ik", a, b).
template <std::same_as<Tensor>... T>
Tensor einsum(std::string_view formula, const Arg& first, const T&... others) {
  return einsum(formula, {Tensor(first.cell()), others...}, first.where());
}
/// @}

/// @defgroup matrix_chains Sums and chains of products
/// Types as those of products. beta and alpha are plain numbers, whole ones for integers.
/// @snippet products.cpp chains
/// @{

/// beta * input + alpha * (a x b) of matrices; input broadcasts to the product. With beta 0, input is not read. 16-bit
/// floats are rounded once.
Tensor addmm(Arg input, Arg a, Arg b, Arg beta = 1, Arg alpha = 1);
/// The same for batches of matrices, as bmm.
Tensor baddbmm(Arg input, Arg a, Arg b, Arg beta = 1, Arg alpha = 1);
/// The same for a matrix and a vector, as mv.
Tensor addmv(Arg input, Arg a, Arg b, Arg beta = 1, Arg alpha = 1);
/// The product of n copies of square matrices [.., k, k], by squaring; 0 gives unit matrices, n < 0 the power of
/// inverse(). 16-bit floats are rounded once.
Tensor matrix_power(Arg x, int64_t n);
/// The product of at least 2 matrices in the order that takes the fewest multiplications; the first and the last may be
/// vectors. Symbolic sizes count as their bounds.
Tensor multi_dot(const std::vector<Tensor>& matrices, Loc where = Loc::current());
/// @}

}  // namespace sinter::inline v0
