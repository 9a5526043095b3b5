// Equations and decompositions in random programs, of matrices so far from singular that errors have a bound.
#include "bounds.h"

namespace fuzz {

using namespace sinter;

namespace {

/// sin(a) scaled to rows that sum up to at most 1/2, as matrices [batch, n, n] or [n, n].
struct SmallMatrices {
  Tensor t;
  int64_t n;
  double error;
};
SmallMatrices small_matrices(ProgramBuilder& r) {
  const DType d = r.chance(70) ? float32 : float64;
  const int64_t n = r.pick(1, 7);
  Item& a = r.chance(50) ? r.leaf(d, {n, n}) : r.leaf(d, {r.pick(1, 4), n, n});
  const double scale = 0.5 / static_cast<double>(n);
  return {sin(a.t) * scale, n, 2 * r.unit(d)};
}

/// (I + s) x = b: no row of the inverse sums up to more than 2.
Item equation(ProgramBuilder& r) {
  const SmallMatrices s = small_matrices(r);
  const DType d = s.t.dtype();
  Shape shape = s.t.shape();
  shape[-1] = r.pick(1, 3);
  Item& b = r.leaf(d, shape);
  const Tensor a = s.t + eye(s.n).to(d);
  const double largest = 2 * b.magnitude, n = static_cast<double>(s.n);
  Tensor x;
  switch (r.pick(0, 3)) {
    case 0: x = solve(a, b.t); break;
    case 1: x = solve(a, b.t.transpose(-1, -2), false); break;
    case 2: x = matmul(inverse(a), b.t); break;
    default: x = solve_triangular(a, b.t, r.chance(50)); break;
  }
  return finish(r, x, n * largest, (8 * n * n * s.error + 2 * b.error) * largest);
}

/// No eigenvalue of a symmetric matrix and no singular value moves by more than the matrix does.
Item spectrum(ProgramBuilder& r) {
  const SmallMatrices s = small_matrices(r);
  const Tensor values = r.chance(50) ? eigvalsh(s.t + s.t.transpose(-1, -2)) : svdvals(s.t);
  return finish(r, values, 2 * static_cast<double>(s.n), 16 * static_cast<double>(s.n) * s.error);
}

/// l l^T of a matrix is the matrix.
Item square_root(ProgramBuilder& r) {
  const SmallMatrices s = small_matrices(r);
  const Tensor a = matmul(s.t, s.t.transpose(-1, -2)) + eye(s.n).to(s.t.dtype());
  return finish(r, cholesky(a), 1.5, 16 * static_cast<double>(s.n) * s.error);
}

}  // namespace

void add_matrix_cases(std::vector<OpCase>& cases) {
  cases.push_back({"equation", false, true, equation});
  cases.push_back({"spectrum", false, true, spectrum});
  cases.push_back({"square root", false, true, square_root});
}

}  // namespace fuzz
