// Decompositions of matrices, and equations.
#pragma once

#include <optional>
#include <string_view>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup decompositions Decompositions
/// Of the matrices along the last two axes, whose sizes are fixed; the axes before them are batches. They compute in
/// float32 and float64: integers and 16-bit floats in float32, and 16-bit results are rounded once. LAPACK does it, on
/// the host: where there is none, a BackendError says how to get it. Tensors on a GPU travel to the host and back, and
/// DEBUG=1 says so; a jitted function refuses it, since it computes on one device. A matrix that has no result (not
/// positive definite, an iteration that does not end) throws at the first host read and gives NaN. Derivatives follow
/// PyTorch's conventions.
/// @snippet linalg.cpp decompositions
/// @{

/// The factors of `lu`: a = p l u.
struct LU {
  Tensor p;  ///< a permutation, [.., m, m]
  Tensor l;  ///< lower triangles with a diagonal of ones, [.., m, min(m, n)]
  Tensor u;  ///< upper triangles, [.., min(m, n), n]
};
/// The factors of `qr`: a = q r.
struct QR {
  Tensor q;  ///< orthonormal columns, [.., m, min(m, n)], or [.., m, m] if complete
  Tensor r;  ///< upper triangles, [.., min(m, n), n], or [.., m, n] if complete
};
/// The factors of `svd`: a = u diag(s) vh.
struct SVD {
  Tensor u;   ///< orthonormal columns, [.., m, m], or [.., m, min(m, n)] if reduced
  Tensor s;   ///< [.., min(m, n)], descending, >= 0
  Tensor vh;  ///< orthonormal rows, [.., n, n], or [.., min(m, n), n] if reduced
};
/// What `eigh` gives: a = vectors diag(values) vectors^T.
struct Eigh {
  Tensor values;   ///< [.., n], ascending
  Tensor vectors;  ///< a unit vector per column, [.., n, n]; its sign is LAPACK's
};
/// What `slogdet` gives: det(a) = sign exp(logabsdet).
struct SlogDet {
  Tensor sign;       ///< -1, 0 or 1
  Tensor logabsdet;  ///< -infinity for a singular matrix
};

/// l with a = l l^T for symmetric positive definite matrices, of which the lower triangle is read; `upper` gives l^T.
Tensor cholesky(Arg a, bool upper = false);
/// Gaussian elimination with partial pivoting.
LU lu(Arg a);
/// Mode "reduced", "complete", or "r" for r alone (q is then an empty handle). A complete q with m > n has no gradient.
QR qr(Arg a, std::string_view mode = "reduced");
/// Singular values and vectors. Full matrices with m != n have no gradient.
SVD svd(Arg a, bool full_matrices = true);
/// The singular values alone, [.., min(m, n)], descending.
Tensor svdvals(Arg a);
/// Eigenvalues and eigenvectors of symmetric matrices, of which the lower triangle is read, or the upper one.
Eigh eigh(Arg a, bool upper = false);
/// The same by PyTorch's name of the triangle, "L" or "U".
Eigh eigh(Arg a, const char* uplo);
/// The eigenvalues alone, [.., n], ascending.
Tensor eigvalsh(Arg a, bool upper = false);
/// The same by PyTorch's name of the triangle, "L" or "U".
Tensor eigvalsh(Arg a, const char* uplo);
/// The determinant, [..]. The gradient of a singular matrix is not finite.
Tensor det(Arg a);
/// log(det), NaN where that is negative.
Tensor logdet(Arg a);
/// The sign of the determinant and the logarithm of its absolute value, without overflow.
SlogDet slogdet(Arg a);
/// int64: how many singular values are above `tol`; by default the largest one times max(m, n) times the type's
/// epsilon.
Tensor matrix_rank(Arg a, std::optional<double> tol = {});
/// The condition number: the largest singular value over the smallest.
Tensor cond(Arg a);
/// @}

/// @defgroup equations Linear equations
/// As decompositions. Batches broadcast.
/// @snippet linalg.cpp equations
/// @{

/// Options of solve_triangular().
struct TriangularOptions {
  bool left = true;            ///< a x = b, otherwise x a = b
  bool unitriangular = false;  ///< the diagonal of a counts as ones and is not read
};
/// What `lstsq` gives.
struct LeastSquares {
  Tensor solution;         ///< [.., n, r]
  Tensor residuals;        ///< [.., r]: the sum of squares of each column of a x - b, for every shape and rank
  Tensor rank;             ///< int64, [..]
  Tensor singular_values;  ///< [.., min(m, n)], without a gradient
};

/// x with a x = b, or x a = b without `left`: a [.., n, n]; b [.., n, r], or vectors [.., n] if it has a's axes but the
/// last. A singular matrix is an error.
Tensor solve(Arg a, Arg b, bool left = true);
/// The same for triangular matrices, whose other triangle is not read. A zero on the diagonal gives infinity.
Tensor solve_triangular(Arg a, Arg b, bool upper, TriangularOptions options = {});
/// x with (l l^T) x = b for what cholesky() gives.
Tensor cholesky_solve(Arg b, Arg l, bool upper = false);
/// a^-1. solve() is faster and more exact than a product with it. A singular matrix is an error.
Tensor inverse(Arg a);
/// inverse, by its other name.
Tensor inv(Arg a);
/// x of the least |a x - b|, and of those the one of the least |x|: a [.., m, n], b [.., m, r]. Singular values up to
/// `cutoff` of the largest count as 0; by default max(m, n) times the type's epsilon.
LeastSquares lstsq(Arg a, Arg b, std::optional<double> cutoff = {});
/// The pseudo-inverse, [.., n, m].
Tensor pinv(Arg a, std::optional<double> cutoff = {});
/// pinv, by PyTorch's other name.
Tensor pinverse(Arg a, std::optional<double> cutoff = {});
/// @}

}  // namespace sinter::inline v0
