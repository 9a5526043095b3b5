// Decompositions and equations. Vectors are compared up to their signs, which are LAPACK's choice.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/linalg.h"
#include "sinter/movement.h"
#include "sinter/products.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Gradients;
using surface::Row;
using surface::Tensors;

/// Symmetric and positive definite.
Tensor definite(const Tensor& x) { return matmul(x, x.transpose(-1, -2)) + 0.5; }
/// Far from singular, and with singular values that differ.
Tensor shifted(const Tensor& x) {
  const DType type = is_float(x.dtype()) ? x.dtype() : float32;
  return x + (0.25 * arange(x.size(-1).value()) + 2).to(type) * eye(x.size(-2), x.size(-1)).to(type);
}
constexpr const char* kTorch =
    "(lambda definite, shifted, T: ({}))(lambda x: x @ x.mT + 0.5 + 0 * x[..., :1, :1], lambda x: x + "
    "(0.25 * torch.arange(x.shape[-1]) + 2) * torch.eye(x.shape[-2], x.shape[-1]), torch.linalg)";

std::string torch(const std::string& call) {
  std::string text = kTorch;
  return text.replace(text.find("{}"), 2, call);
}

Tensor plus_unit(const Tensor& x) { return definite(x) + eye(x.size(-2)).to(x.dtype()); }

Row row(std::string name, surface::Call call, const std::string& python,
        std::vector<std::vector<surface::Input>> cases) {
  Row made{std::move(name), std::move(call), torch(python), std::move(cases)};
  made.tolerance = 2e-4;
  return made;
}
Row once(Row made) {
  made.gradients = Gradients::First;
  return made;
}

const Tensor kWide = from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});

const surface::Family kLinalg(
    "linalg",
    {
        row("cholesky",
            [](const Tensors& x) { return Tensors{cholesky(plus_unit(x[0])), cholesky(plus_unit(x[0]), true)}; },
            "(T.cholesky(definite(x) + torch.eye(x.shape[-2])), T.cholesky(definite(x) + torch.eye(x.shape[-2])).mT)",
            {{{3, 3}}, {{2, 1, 1}}, {{2, 4, 2}}}),
        row("lu",
            [](const Tensors& x) {
              const LU f = lu(shifted(x[0]).flip(-2));
              return Tensors{f.p, f.l, f.u};
            },
            "T.lu(shifted(x).flip(-2))", {{{3, 3}}, {{2, 4, 2}}, {{2, 5}}}),
        row("qr",
            [](const Tensors& x) {
              const Tensor a = shifted(x[0]);
              const QR f = qr(a), all = qr(a.slice(-2, {.end = 2}), "complete");
              return Tensors{abs(f.q), abs(f.r), abs(all.q), abs(qr(a, "r").r)};
            },
            "(lambda a: (lambda f: (f[0].abs(), f[1].abs(), T.qr(a[..., :2, :], 'complete')[0].abs(), "
            "f[1].abs()))(T.qr(a)))(shifted(x))",
            {{{3, 3}}, {{2, 4, 2}}, {{2, 5}}}),
        once(row("svd",
                 [](const Tensors& x) {
                   const SVD f = svd(shifted(x[0]), false);
                   return Tensors{abs(f.u), f.s, abs(f.vh)};
                 },
                 "(lambda f: (f[0].abs(), f[1], f[2].abs()))(T.svd(shifted(x), full_matrices=False))",
                 {{{3, 3}}, {{2, 4, 2}}, {{2, 3}}})),
        without_gradients(row("svd: full",
                              [](const Tensors& x) {
                                const SVD f = svd(shifted(x[0]));
                                const Tensor rows = f.vh.narrow(-2, 0, f.s.size(-1));
                                return Tensors{abs(rows), f.s, matmul(f.u, f.u.transpose(-1, -2)),
                                               matmul(f.vh, f.vh.transpose(-1, -2))};
                              },
                              "(lambda f: (f[2][..., :f[1].shape[-1], :].abs(), f[1], f[0] @ f[0].mT, f[2] @ "
                              "f[2].mT))(T.svd(shifted(x)))",
                              {{{3, 3}}, {{2, 4, 2}}, {{2, 3}}})),
        row("svdvals", [](const Tensors& x) { return svdvals(shifted(x[0])); }, "T.svdvals(shifted(x))",
            {{{3, 3}}, {{2, 4, 2}}, {{2, 3}}}),
        once(row("eigh",
                 [](const Tensors& x) {
                   const Eigh f = eigh(definite(shifted(x[0]))), other = eigh(definite(shifted(x[0])), true);
                   return Tensors{f.values, abs(f.vectors), other.values};
                 },
                 "(lambda f: (f[0], f[1].abs(), f[0]))(T.eigh(definite(shifted(x))))",
                 {{{3, 3}}, {{2, 2, 4}}, {{1, 3}}})),
        row("eigvalsh", [](const Tensors& x) { return eigvalsh(definite(shifted(x[0]))); },
            "T.eigvalsh(definite(shifted(x)))", {{{3, 3}}, {{2, 2, 4}}}),
        row("det", [](const Tensors& x) { return det(shifted(x[0])); }, "T.det(shifted(x))",
            {{{3, 3}}, {{2, 1, 1}}, {{2, 2, 2}}}),
        row("logdet", [](const Tensors& x) { return logdet(plus_unit(x[0])); },
            "torch.logdet(definite(x) + torch.eye(x.shape[-2]))", {{{3, 3}}, {{2, 2, 1}}}),
        row("slogdet",
            [](const Tensors& x) {
              const SlogDet d = slogdet(-shifted(x[0]));
              return Tensors{d.sign, d.logabsdet};
            },
            "T.slogdet(-shifted(x))", {{{3, 3}}, {{2, 2, 2}}}),
        without_gradients(row("matrix_rank",
                              [](const Tensors& x) {
                                return Tensors{matrix_rank(shifted(x[0])),
                                               matrix_rank(x[0].narrow(-2, 0, 1) * ones({4, 1}).to(x[0].dtype())),
                                               matrix_rank(shifted(x[0]), 2.5)};
                              },
                              "T.matrix_rank(shifted(x)), T.matrix_rank(x[..., :1, :] * torch.ones(4, 1)), "
                              "T.matrix_rank(shifted(x), tol=2.5)",
                              {{{3, 3}}, {{2, 4, 2}}})),
        row("cond", [](const Tensors& x) { return cond(shifted(x[0])); }, "T.cond(shifted(x))",
            {{{3, 3}}, {{2, 3, 2}}}),
        row("solve",
            [](const Tensors& x) {
              return Tensors{solve(shifted(x[0]), x[1]), solve(shifted(x[0]), x[1].transpose(-1, -2), false),
                             solve(shifted(x[0]), x[0].select(-1, 0))};
            },
            "T.solve(shifted(x), y), T.solve(shifted(x), y.mT, left=False), T.solve(shifted(x), x[..., 0])",
            {{{3, 3}, {3, 2}}, {{2, 2, 2}, {2, 4}}, {{2, 1, 1}, {3, 1, 1, 2}}}),
        row("solve_triangular",
            [](const Tensors& x) {
              const Tensor a = shifted(x[0]), b = x[1];
              return Tensors{solve_triangular(a, b, true), solve_triangular(a, b, false, {.unitriangular = true}),
                             solve_triangular(a, b.transpose(-1, -2), false, {.left = false})};
            },
            "T.solve_triangular(shifted(x), y, upper=True), T.solve_triangular(shifted(x), y, upper=False, "
            "unitriangular=True), T.solve_triangular(shifted(x), y.mT, upper=False, left=False)",
            {{{3, 3}, {3, 2}}, {{2, 2, 2}, {2, 4}}}),
        row("cholesky_solve",
            [](const Tensors& x) {
              const Tensor l = cholesky(plus_unit(x[0]));
              return Tensors{cholesky_solve(x[1], l), cholesky_solve(x[1], l.transpose(-1, -2), true)};
            },
            "(lambda l: (torch.cholesky_solve(y, l), torch.cholesky_solve(y, l.mT, "
            "upper=True)))(T.cholesky(definite(x) + "
            "torch.eye(x.shape[-2])))",
            {{{3, 3}, {3, 2}}, {{2, 2, 2}, {2, 2, 1}}}),
        row("inverse", [](const Tensors& x) { return inverse(shifted(x[0])); }, "torch.inverse(shifted(x))",
            {{{3, 3}}, {{2, 1, 1}}, {{2, 2, 2}}}),
        row("inv", [](const Tensors& x) { return inv(shifted(x[0])); }, "T.inv(shifted(x))", {{{3, 3}}}),
        row("lstsq",
            [](const Tensors& x) {
              const LeastSquares f = lstsq(shifted(x[0]), x[1]);
              return Tensors{f.solution, f.residuals};
            },
            "(lambda a: (lambda s: (s, ((a @ s - y) ** 2).sum(-2)))(T.pinv(a) @ y))(shifted(x))",
            {{{3, 3}, {3, 2}}, {{2, 4, 2}, {4, 1}}, {{2, 3}, {2, 2}}}),
        without_gradients(row("lstsq: ranks",
                              [](const Tensors& x) {
                                const Tensor a = x[0].slice(-2, {.end = 1}) * ones({4, 1}).to(x[0].dtype());
                                const LeastSquares f = lstsq(a, ones({4, 2}).to(x[0].dtype()));
                                return Tensors{f.rank, f.singular_values.slice(-1, {.end = 1}), f.solution};
                              },
                              "(lambda a: (T.matrix_rank(a), T.svdvals(a)[..., :1], T.pinv(a) @ torch.ones(4, "
                              "2)))(x[..., :1, :] * torch.ones(4, 1))",
                              {{{3, 3}}, {{2, 4, 2}}})),
        row("pinv", [](const Tensors& x) { return pinv(shifted(x[0])); }, "T.pinv(shifted(x))",
            {{{3, 3}}, {{2, 4, 2}}, {{2, 3}}}),
        row("pinverse", [](const Tensors& x) { return pinverse(shifted(x[0])); }, "torch.pinverse(shifted(x))",
            {{{2, 3}}}),
    },
    {
        SURFACE_BAD("cholesky", cholesky(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("lu", lu(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("qr", qr(kWide, "thin"), "thin", "[2, 3]"),
        SURFACE_BAD("svd", svd(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("eigh", eigh(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("det", det(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("logdet", logdet(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("slogdet", slogdet(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("inv", inv(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("eigvalsh", eigvalsh(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("svdvals", svdvals(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("matrix_rank", matrix_rank(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("pinv", pinv(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("pinverse", pinverse(ones({3})), "[3]", "1 axes"),
        SURFACE_BAD("cond", cond(zeros({0, 3})), "[0, 3]", "no singular values"),
        SURFACE_BAD("solve", solve(eye(2), ones({3, 1})), "[2, 2]", "[3, 1]"),
        SURFACE_BAD("solve", solve(ones({2, 2, 2}), ones({3, 2, 1})), "[2]", "[3]"),
        SURFACE_BAD("solve_triangular", solve_triangular(eye(2), ones({2}), true), "[2]", "1 axes"),
        SURFACE_BAD("inverse", inverse(kWide), "[2, 3]", "2 rows and 3 columns"),
        SURFACE_BAD("lstsq", lstsq(kWide, ones({3, 1})), "[2, 3]", "[3, 1]"),
    });

}  // namespace
