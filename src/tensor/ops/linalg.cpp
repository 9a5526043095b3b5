// Decompositions and equations: calls of LAPACK (ir/lapack_call.h), which run on the host, and what is made of them.
#include "sinter/linalg.h"

#include <limits>

#include "ir/lapack_call.h"
#include "ir/matrix.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/diagonals.h"
#include "tensor/ops/matrices.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// [.., n] of the [.., n, n] in which l and u lie.
UOp diagonal_of_u(const LapackRows& factors) {
  const UOp both = factors[0];
  const auto last = static_cast<int64_t>(both->rank()) - 1;
  return take_diagonal(both, last - 1, last);
}

/// Rows of l, u and more, as Lu gives them.
LapackRows factors_of(const Matrices& a) { return lapack({LapackRoutine::Lu}, {a.x}); }
/// Of the permutation, [..].
UOp sign_of(const LapackRows& factors) {
  UOp sign = factors[2];
  return drop_axes(sign, {static_cast<int64_t>(sign->rank()) - 1});
}

LapackRows singular(const Matrices& a, int64_t options) { return lapack({LapackRoutine::Svd, options}, {a.x}); }

UOp square_with(const Matrices& a, bool upper) { return upper ? matrix_transpose(a.x) : a.x; }

bool is_upper(std::string_view name, const Arg& a, std::string_view uplo) {
  const Call call(name, a.where());
  if (uplo != "L" && uplo != "U")
    usage_error("the triangle of {} is \"{}\"; give \"L\", the lower one, or \"U\"", describe(a), uplo);
  return uplo == "U";
}

double relative_cutoff(const Matrices& a) {
  return epsilon_of(a.x->dtype) * static_cast<double>(std::max(a.rows(), a.columns()));
}

/// x with a x = b.
UOp solution(const LapackCall& call, UOp a, UOp b) { return lapack(call, {a, b})[0]; }

Tensor inverse_of(std::string_view name, const Arg& a) {
  Call call(name, a.where());
  const Matrices m = square_matrices(a);
  return m.back(solution({LapackRoutine::Solve}, m.x, unit_matrix_like(m.x)));
}

}  // namespace

Tensor cholesky(Arg a, bool upper) {
  Call call("cholesky", a.where());
  const Matrices m = square_matrices(a);
  UOp l = lapack({LapackRoutine::Cholesky}, {square_with(m, upper)})[0];
  return m.back(upper ? matrix_transpose(l) : l);
}

LU lu(Arg a) {
  Call call("lu", a.where());
  const Matrices m = matrices(a);
  const LapackRows factors = factors_of(m);
  UOp both = factors[0], order = factors[1];
  const int64_t k = std::min(m.rows(), m.columns());
  UOp l = matrix_block(both, {0, m.rows()}, {0, k}), u = matrix_block(both, {0, k}, {0, m.columns()});
  // Row i of the product is row order[i] of a.
  const auto rows = static_cast<int64_t>(m.x->rank()) - 2;
  UOp row_of_a = expand(detach(order), matrix_shape(m.x, m.rows(), m.rows()), {rows});
  UOp row = cast(position(row_of_a->shape, rows, row_of_a->device), order->dtype);
  return {m.back(cast(eq(row_of_a, row), order->dtype)), m.back(lower_triangle(l, false) + unit_matrix_like(l)),
          m.back(upper_triangle(u))};
}

QR qr(Arg a, std::string_view mode) {
  Call call("qr", a.where());
  const Matrices m = matrices(a);
  if (mode != "reduced" && mode != "complete" && mode != "r")
    usage_error("the mode \"{}\" of {}; give \"reduced\", \"complete\" or \"r\"", mode, describe(m.x));
  const LapackRows all = lapack({LapackRoutine::Qr, mode == "complete" ? kFullMatrices : 0}, {m.x});
  return {mode == "r" ? Tensor() : m.back(all[0]), m.back(all[1])};
}

SVD svd(Arg a, bool full_matrices) {
  Call call("svd", a.where());
  const Matrices m = matrices(a);
  const LapackRows all = singular(m, full_matrices ? kFullMatrices : 0);
  return {m.back(all[0]), m.back(all[1]), m.back(all[2])};
}

Tensor svdvals(Arg a) {
  Call call("svdvals", a.where());
  const Matrices m = matrices(a);
  return m.back(singular(m, kValuesOnly)[0]);
}

Eigh eigh(Arg a, bool upper) {
  Call call("eigh", a.where());
  const Matrices m = square_matrices(a);
  const LapackRows all = lapack({LapackRoutine::Eigh}, {square_with(m, upper)});
  return {m.back(all[0]), m.back(all[1])};
}

Tensor eigvalsh(Arg a, bool upper) {
  Call call("eigvalsh", a.where());
  const Matrices m = square_matrices(a);
  return m.back(lapack({LapackRoutine::Eigh, kValuesOnly}, {square_with(m, upper)})[0]);
}

Eigh eigh(Arg a, const char* uplo) { return eigh(a, is_upper("eigh", a, uplo)); }
Tensor eigvalsh(Arg a, const char* uplo) { return eigvalsh(a, is_upper("eigvalsh", a, uplo)); }

Tensor det(Arg a) {
  Call call("det", a.where());
  const Matrices m = square_matrices(a);
  const LapackRows factors = factors_of(m);
  UOp diagonal = diagonal_of_u(factors);
  return m.back(reduce(Combine::Mul, diagonal, {static_cast<int64_t>(diagonal->rank()) - 1}) *
                detach(sign_of(factors)));
}

SlogDet slogdet(Arg a) {
  Call call("slogdet", a.where());
  const Matrices m = square_matrices(a);
  const LapackRows factors = factors_of(m);
  UOp diagonal = diagonal_of_u(factors), zero = like(diagonal, 0.0);
  const Ints last{static_cast<int64_t>(diagonal->rank()) - 1};
  UOp signs = where(lt(diagonal, zero), like(diagonal, -1.0), where(lt(zero, diagonal), like(diagonal, 1.0), diagonal));
  UOp sign = reduce(Combine::Mul, detach(signs), last) * detach(sign_of(factors));
  UOp log = sum(alu(Op::Log, {alu(Op::Abs, {diagonal})}), last);
  return {m.back(sign), m.back(log)};
}

Tensor logdet(Arg a) {
  const OuterCall call("logdet", a.where());
  const auto [sign, log] = slogdet(a);
  return where(Arg(sign, a.where()) < 0, std::numeric_limits<double>::quiet_NaN(), Arg(log, a.where()));
}

Tensor matrix_rank(Arg a, std::optional<double> tol) {
  Call call("matrix_rank", a.where());
  const Matrices m = matrices(a);
  UOp s = detach(singular(m, kValuesOnly)[0]);
  const auto last = static_cast<int64_t>(s->rank()) - 1;
  if (s->shape[last] == 0) return m.back_as(sum(cast(s, DType::I64), {last}), DType::I64);
  UOp largest = insert_axis(reduce(Combine::Max, s, {last}), last);
  UOp least = tol ? like(largest, *tol) : largest * relative_cutoff(m);
  UOp above = lt(broadcast_to(least, s->shape), s);
  return m.back_as(sum(cast(above, DType::I64), {last}), DType::I64);
}

Tensor cond(Arg a) {
  Call call("cond", a.where());
  const Matrices m = matrices(a);
  UOp s = singular(m, kValuesOnly)[0];
  const auto last = static_cast<int64_t>(s->rank()) - 1;
  if (s->shape[last] == 0) usage_error("{} has no singular values; check the size first", describe(m.x));
  return m.back(reduce(Combine::Max, s, {last}) / reduce(Combine::Min, s, {last}));
}

Tensor solve(Arg a, Arg b, bool left) {
  Call call("solve", a.where());
  const Equation e = equation(a, b, left, true);
  return e.back(solution({LapackRoutine::Solve}, e.a(), e.b()));
}

Tensor solve_triangular(Arg a, Arg b, bool upper, TriangularOptions options) {
  Call call("solve_triangular", a.where());
  const Equation e = equation(a, b, options.left, false);
  const int64_t bits = (upper == options.left ? kUpperTriangle : 0) | (options.unitriangular ? kUnitTriangle : 0);
  return e.back(solution({LapackRoutine::TriangularSolve, bits}, e.a(), e.b()));
}

Tensor cholesky_solve(Arg b, Arg l, bool upper) {
  Call call("cholesky_solve", b.where());
  const Equation e = equation(l, b, true, false);
  UOp lower = upper ? matrix_transpose(e.a()) : e.a();
  UOp inner = solution({LapackRoutine::TriangularSolve}, lower, e.b());
  return e.back(solution({LapackRoutine::TriangularSolve, kUpperTriangle}, matrix_transpose(lower), inner));
}

Tensor inverse(Arg a) { return inverse_of("inverse", a); }
Tensor inv(Arg a) { return inverse_of("inv", a); }

LeastSquares lstsq(Arg a, Arg b, std::optional<double> cutoff) {
  Call call("lstsq", a.where());
  const Equation e = least_squares(a, b);
  const LapackRows all =
      lapack({LapackRoutine::LeastSquares, 0, cutoff.value_or(relative_cutoff(e.matrices))}, {e.a(), e.b()});
  UOp rank = detach(all[2]), off = matrix_product(e.a(), all[0]) - e.b();
  return {e.back(all[0]), e.matrices.back(sum(off * off, {static_cast<int64_t>(off->rank()) - 2})),
          e.matrices.back_as(drop_axes(rank, {static_cast<int64_t>(rank->rank()) - 1}), DType::I64),
          e.matrices.back(detach(all[1]))};
}

Tensor pinv(Arg a, std::optional<double> cutoff) {
  Call call("pinv", a.where());
  const Matrices m = matrices(a);
  const Shape square = matrix_shape(m.x, m.rows(), m.rows());
  UOp one = unit_matrix_like(full(*m.x->graph, square, m.x->dtype, 0, m.x->device));
  return m.back(solution({LapackRoutine::LeastSquares, 0, cutoff.value_or(relative_cutoff(m))}, m.x, one));
}

Tensor pinverse(Arg a, std::optional<double> cutoff) {
  const OuterCall call("pinverse", a.where());
  return pinv(a, cutoff);
}

}  // namespace sinter::inline v0
