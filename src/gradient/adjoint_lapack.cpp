// Derivatives of decompositions and solutions, in products and solutions. Formulas: M. Giles, "An extended collection
// of matrix derivative results for forward and reverse mode algorithmic differentiation" (2008); QR: S. Walter and L.
// Lehmann, "Algorithmic differentiation of linear algebra functions" (2010); least squares: G. Golub and V. Pereyra,
// "The differentiation of pseudo-inverses" (1973).
#include "gradient/adjoint.h"
#include "ir/lapack_call.h"
#include "ir/matrix.h"
#include "sinter/error.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

/// The lower triangle, mirrored.
UOp mirrored(UOp x) { return lower_triangle(x) + matrix_transpose(lower_triangle(x, false)); }
/// A vector along the rows or the columns of a matrix of the shape of x.
UOp per_row(UOp v, UOp x) { return expand(v, x->shape, {static_cast<int64_t>(x->rank()) - 1}); }
UOp per_column(UOp v, UOp x) { return expand(v, x->shape, {static_cast<int64_t>(x->rank()) - 2}); }
/// x / d, and 0 where d is 0.
UOp divided(UOp x, UOp d) {
  UOp zero = eq(d, like(d, 0.0));
  return where(zero, like(x, 0.0), x / where(zero, like(d, 1.0), d));
}
UOp solution_of_triangle(UOp a, UOp b, int64_t options) {
  return lapack({LapackRoutine::TriangularSolve, options}, {a, b})[0];
}
/// b a^-1.
UOp divided_by_triangle(UOp b, UOp a, int64_t options) {
  return matrix_transpose(solution_of_triangle(matrix_transpose(a), matrix_transpose(b), options ^ kUpperTriangle));
}

/// A call of LAPACK and its results.
struct Routine {
  explicit Routine(Adjoint& adjoint)
      : a(adjoint),
        call(lapack_call_of(a.n)),
        sizes(lapack_sizes_of(a.src(0)->shape, a.n->src.size() > 1 ? &a.src(1)->shape : nullptr)) {}
  UOp value(size_t i) const { return lapack_rows(a.n, call, sizes)[i]; }
  UOp g(size_t i) const { return lapack_rows(a.g, call, sizes)[i]; }

  Adjoint& a;
  const LapackCall call;
  const LapackSizes sizes;
};

void cholesky(const Routine& r) {
  UOp l = r.value(0), t = matrix_transpose(l);
  UOp inner = mirrored(matrix_product(t, lower_triangle(r.g(0)))) * 0.5;
  UOp left = solution_of_triangle(t, inner, kUpperTriangle);
  r.a.give(0, divided_by_triangle(left, l, 0));
}

void triangular_solve(const Routine& r) {
  UOp x = r.value(0), a = r.a.src(0);
  UOp g = solution_of_triangle(matrix_transpose(a), r.g(0), r.call.options ^ kUpperTriangle);
  r.a.give(1, g);
  if (!r.a.wants(0)) return;
  UOp all = -matrix_product(g, matrix_transpose(x));
  UOp part = r.call.has(kUpperTriangle) ? upper_triangle(all) : lower_triangle(all);
  r.a.give(0, r.call.has(kUnitTriangle) ? part - on_diagonal(part) : part);
}

void solve(const Routine& r) {
  UOp g = lapack({LapackRoutine::Solve}, {matrix_transpose(r.a.src(0)), r.g(0)})[0];
  r.a.give(1, g);
  if (r.a.wants(0)) r.a.give(0, -matrix_product(g, matrix_transpose(r.value(0))));
}

/// Rows p[i] of the result are rows i of x.
UOp in_order(UOp x, UOp order) {
  UOp index = expand(cast(order, DType::I64), x->shape, {static_cast<int64_t>(x->rank()) - 1});
  return scatter_add(like(x, 0.0), index, x, static_cast<int64_t>(x->rank()) - 2);
}

/// In blocks: the leading k x k part of both factors, and what is right of it or below it.
void lu(const Routine& r) {
  const auto [m, n, columns] = r.sizes;
  const int64_t k = r.sizes.k();
  UOp both = r.value(0), g = r.g(0);
  UOp square = matrix_block(both, {0, k}, {0, k}), g_square = matrix_block(g, {0, k}, {0, k});
  UOp l = lower_triangle(square, false) + unit_matrix_like(square), u = upper_triangle(square);
  UOp of_l = matrix_product(matrix_transpose(l), lower_triangle(g_square, false)),
      of_u = matrix_product(upper_triangle(g_square), matrix_transpose(u));
  UOp right, below;
  if (n > k) {
    UOp g_right = matrix_block(g, {0, k}, {k, n});
    of_l = of_l - matrix_product(g_right, matrix_transpose(matrix_block(both, {0, k}, {k, n})));
    right = solution_of_triangle(matrix_transpose(l), g_right, kUpperTriangle | kUnitTriangle);
  }
  if (m > k) {
    UOp g_below = matrix_block(g, {k, m}, {0, k});
    of_u = of_u - matrix_product(matrix_transpose(matrix_block(both, {k, m}, {0, k})), g_below);
    below = divided_by_triangle(g_below, matrix_transpose(u), 0);
  }
  UOp left = solution_of_triangle(matrix_transpose(l), lower_triangle(of_l, false) + upper_triangle(of_u),
                                  kUpperTriangle | kUnitTriangle);
  UOp made = divided_by_triangle(left, matrix_transpose(u), 0);
  const auto rank = static_cast<int64_t>(made->rank());
  if (right) made = cat(std::vector<UOp>{made, right}, rank - 1);
  if (below) made = cat(std::vector<UOp>{made, below}, rank - 2);
  r.a.give(0, in_order(made, r.value(1)));
}

/// The gradient of a square or tall matrix q r.
UOp of_square_qr(UOp q, UOp r, UOp gq, UOp gr) {
  UOp inner = matrix_product(r, matrix_transpose(upper_triangle(gr))) - matrix_product(matrix_transpose(gq), q);
  return divided_by_triangle(gq + matrix_product(q, mirrored(inner)), matrix_transpose(r), 0);
}

void qr(const Routine& r) {
  const auto [m, n, columns] = r.sizes;
  if (r.call.has(kFullMatrices) && m > n)
    throw UsageError("qr: the gradient of a complete q with more rows than columns is not defined; use mode reduced");
  UOp q = r.value(0), t = r.value(1), gq = r.g(0), gr = r.g(1);
  if (m >= n) return r.a.give(0, of_square_qr(q, t, gq, gr));
  UOp g_right = matrix_block(gr, {0, m}, {m, n}), right = matrix_block(r.a.src(0), {0, m}, {m, n});
  UOp first = of_square_qr(q, matrix_block(t, {0, m}, {0, m}), gq + matrix_product(right, matrix_transpose(g_right)),
                           matrix_block(gr, {0, m}, {0, m}));
  r.a.give(0, cat(std::vector<UOp>{first, matrix_product(q, g_right)}, static_cast<int64_t>(first->rank()) - 1));
}

void eigh(const Routine& r) {
  const bool values = r.call.has(kValuesOnly);
  const LapackRows own = lapack_rows(r.a.n, r.call, r.sizes);
  UOp v = values ? lapack({LapackRoutine::Eigh}, {r.a.src(0)})[1] : own[1], w = own[0];
  UOp inner = on_diagonal(per_row(r.g(0), v));
  if (!values) inner = inner + divided(matrix_product(matrix_transpose(v), r.g(1)), per_column(w, v) - per_row(w, v));
  r.a.give(0, matrix_product(matrix_product(v, inner), matrix_transpose(v)));
}

void svd(const Routine& r) {
  const auto [m, n, columns] = r.sizes;
  const int64_t k = r.sizes.k();
  const bool values = r.call.has(kValuesOnly);
  if (r.call.has(kFullMatrices) && m != n)
    throw UsageError(
        "svd: the gradient of full matrices is not defined where there are more rows than columns, or fewer; use "
        "full_matrices = false");
  const LapackRows reduced = values ? lapack({LapackRoutine::Svd}, {r.a.src(0)}) : lapack_rows(r.a.n, r.call, r.sizes);
  UOp u = reduced[0], s = reduced[1], vh = reduced[2];
  if (values) {
    UOp scaled = per_column(r.g(0), u) * u;
    return r.a.give(0, matrix_product(scaled, vh));
  }
  UOp gu = r.g(0), gvh = r.g(2), ut = matrix_transpose(u), v = matrix_transpose(vh);
  UOp of_u = matrix_product(ut, gu), of_v = matrix_product(vh, matrix_transpose(gvh));
  UOp rows = per_row(s, of_u), across = per_column(s, of_u), gap = across * across - rows * rows;
  UOp inner = on_diagonal(per_row(r.g(1), of_u)) + divided(of_u - matrix_transpose(of_u), gap) * across +
              rows * divided(of_v - matrix_transpose(of_v), gap);
  UOp made = matrix_product(matrix_product(u, inner), vh);
  if (m > k) {
    UOp scaled = divided(gu, per_column(s, gu));
    made = made + matrix_product(scaled - matrix_product(u, matrix_product(ut, scaled)), vh);
  }
  if (n > k) {
    UOp scaled = divided(gvh, per_row(s, gvh));
    made = made + matrix_product(u, scaled - matrix_product(matrix_product(scaled, v), vh));
  }
  r.a.give(0, made);
}

/// By the pseudo-inverse p: x = p b.
void least_squares(const Routine& r) {
  UOp a = r.a.src(0), b = r.a.src(1), x = r.value(0), g = r.g(0), gt = matrix_transpose(g);
  const Shape square = matrix_shape(a, r.sizes.m, r.sizes.m);
  UOp one = unit_matrix_like(full(*a->graph, square, a->dtype, 0, a->device));
  UOp p = lapack(r.call, {a, one})[0], pt = matrix_transpose(p);
  UOp gb = matrix_product(pt, g);
  r.a.give(1, gb);
  if (!r.a.wants(0)) return;
  UOp rest = matrix_product(b - matrix_product(a, x), matrix_product(gt, matrix_product(p, pt)));
  UOp outside = matrix_product(matrix_product(pt, x), gt - matrix_product(matrix_product(gt, p), a));
  r.a.give(0, rest + outside - matrix_product(gb, matrix_transpose(x)));
}

void lapack_rule(Adjoint& a) {
  const Routine r(a);
  switch (r.call.routine) {
    case LapackRoutine::Cholesky: return cholesky(r);
    case LapackRoutine::TriangularSolve: return triangular_solve(r);
    case LapackRoutine::Solve: return solve(r);
    case LapackRoutine::Lu: return lu(r);
    case LapackRoutine::Qr: return qr(r);
    case LapackRoutine::Svd: return svd(r);
    case LapackRoutine::Eigh: return eigh(r);
    case LapackRoutine::LeastSquares: return least_squares(r);
  }
}

constexpr GradientRuleEntry kLapack[] = {{Op::Lapack, lapack_rule}};

}  // namespace

std::span<const GradientRuleEntry> lapack_rules() { return kLapack; }

}  // namespace sinter::autodiff
