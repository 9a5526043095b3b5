// Norms and distances.
#include <limits>

#include "sinter/create.h"
#include "sinter/norms.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Gradients;
using surface::Row;
using surface::Tensors;
using surface::Types;

constexpr double kInf = std::numeric_limits<double>::infinity();
Tensor vectors(Shape shape) { return zeros(shape); }

/// Zeros that depend on x: the derivative of their norm is 0.
Tensor nothing(const Tensor& x) { return x * 1.0 - x.detach() * 1.0; }

Tensors of_specials() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor s = from(
      {{nan, 1.0}, {1.0, kInf}, {-kInf, nan}, {-kInf, kInf}, {0.0, -0.0}, {0.0, 2.0}, {1e30, -1e30}, {1e-30, 0.0}});
  Tensors out;
  for (double p : {2.0, 1.0, 3.0, 0.5, 0.0, -1.0, kInf, -kInf}) out.push_back(vector_norm(s, p, 1));
  for (const Tensor& t : {matrix_norm(s), matrix_norm(s, 1), normalize(s), cdist(s, s, 1)}) out.push_back(t);
  return out;
}

// clang-format off
const surface::Family kNorms("norms", {
    {"vector_norm",
     [](const Tensors& x) { return Tensors{vector_norm(x[0]), vector_norm(x[0], 1, 0), vector_norm(x[0], 2, {0, -1}, true), vector_norm(x[0], 3, 1), vector_norm(x[0], 0.5, 1), vector_norm(x[0], -1.5, 1), vector_norm(x[0], 0, 1)}; },
     "torch.linalg.vector_norm(x), torch.linalg.vector_norm(x, 1, 0), torch.linalg.vector_norm(x, 2, (0, -1), True), torch.linalg.vector_norm(x, 3, 1), torch.linalg.vector_norm(x, 0.5, 1), torch.linalg.vector_norm(x, -1.5, 1), torch.linalg.vector_norm(x, 0, 1)",
     {{{2, 3}}, {{7, 1}}, {{1, 2, 3}}}},
    {"vector_norm: the largest and the smallest", [](const Tensors& x) { return Tensors{vector_norm(x[0], kInf, 1), vector_norm(x[0], -kInf)}; },
     "torch.linalg.vector_norm(x, math.inf, 1), torch.linalg.vector_norm(x, -math.inf)", {{{2, 3}}}, Types::All, Gradients::First},
    {"vector_norm: of zeros",
     [](const Tensors& x) { const Tensor y = nothing(x[0]); return Tensors{vector_norm(y, 2, 1), vector_norm(y, 1, 1), vector_norm(y, 3, 1), vector_norm(y, 0.5, 1), vector_norm(y, kInf, 1)}; },
     "(lambda y: [torch.linalg.vector_norm(y, p, 1) for p in (2, 1, 3, 0.5, math.inf)])(x - x.detach())", {{{2, 3}}, {{3, 1, 2}}}},
    {"vector_norm: of special values", [](const Tensors&) { return of_specials(); }, "(lambda s: [torch.linalg.vector_norm(s, p, 1) for p in (2, 1, 3, 0.5, 0, -1, math.inf, -math.inf)] + [torch.linalg.matrix_norm(s), torch.linalg.matrix_norm(s, 1), F.normalize(s), torch.cdist(s, s, 1.0)])(torch.tensor([[math.nan, 1], [1, math.inf], [-math.inf, math.nan], [-math.inf, math.inf], [0., -0.], [0, 2], [1e30, -1e30], [1e-30, 0]]))",
     {{}}, Types::All, Gradients::None},
    {"norm", [](const Tensors& x) { return Tensors{norm(x[0]), norm(x[0], 1), norm(x[0], 2, 1, true)}; }, "torch.norm(x), torch.norm(x, 1), torch.norm(x, 2, 1, True)",
     {{{2, 3}}, {{2, 0}}}},
    {"matrix_norm", [](const Tensors& x) { return Tensors{matrix_norm(x[0]), matrix_norm(x[0], "fro", {0, -1}, true)}; },
     "torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(x, 'fro', (0, -1), True)", {{{2, 3, 4}}, {{1, 1, 1}}}},
    {"matrix_norm: of singular values", [](const Tensors& x) { return Tensors{matrix_norm(x[0], 2), matrix_norm(x[0], "nuc"), matrix_norm(x[0], -2, {0, 1}, true), matrix_norm(x[0], "nuc", {2, 0})}; },
     "torch.linalg.matrix_norm(x, 2), torch.linalg.matrix_norm(x, 'nuc'), torch.linalg.matrix_norm(x, -2, (0, 1), True), torch.linalg.matrix_norm(x, 'nuc', (2, 0))", {{{2, 2, 3}}}},
    {"matrix_norm: of sums", [](const Tensors& x) { return Tensors{matrix_norm(x[0], 1), matrix_norm(x[0], -1, {2, 0}, true), matrix_norm(x[0], kInf, {0, 1}), matrix_norm(x[0], -kInf)}; },
     "torch.linalg.matrix_norm(x, 1), torch.linalg.matrix_norm(x, -1, (2, 0), True), torch.linalg.matrix_norm(x, math.inf, (0, 1)), torch.linalg.matrix_norm(x, -math.inf)",
     {{{2, 3, 4}}}, Types::All, Gradients::First},
    {"linalg_norm", [](const Tensors& x) { return Tensors{linalg_norm(x[0]), linalg_norm(x[0], std::nullopt, {0, 1}, true), linalg_norm(x[0], 2, 1), linalg_norm(x[0], "fro", {0, -1}), linalg_norm(x[0], 3, 0, true)}; },
     "torch.linalg.norm(x), torch.linalg.norm(x, None, (0, 1), True), torch.linalg.norm(x, 2, 1), torch.linalg.norm(x, 'fro', (0, -1)), torch.linalg.norm(x, 3, 0, True)",
     {{{2, 3}}, {{2, 2, 3}}}},
    {"linalg_norm: of sums and vectors", [](const Tensors& x) { return Tensors{linalg_norm(x[0], 1), linalg_norm(x[0], -kInf, {1, 0}, true), linalg_norm(x[1], 3)}; },
     "torch.linalg.norm(x, 1), torch.linalg.norm(x, -math.inf, (1, 0), True), torch.linalg.norm(y, 3)", {{{2, 3}, {4}}}, Types::All, Gradients::First},
    {"linalg_norm: of singular values", [](const Tensors& x) { return Tensors{linalg_norm(x[0], 2, {-2, -1}), linalg_norm(x[0], "nuc", {2, 0})}; },
     "torch.linalg.norm(x, 2, (-2, -1)), torch.linalg.norm(x, 'nuc', (2, 0))", {{{2, 2, 3}}}},
    {"normalize", [](const Tensors& x) { return Tensors{normalize(x[0]), normalize(x[0], 1, 0), normalize(x[0], 3, -1), normalize(x[0], 2, 1, 2.0)}; },
     "F.normalize(x), F.normalize(x, 1, 0), F.normalize(x, 3, -1), F.normalize(x, 2, 1, 2.0)", {{{2, 3}}, {{3, 1, 2}}}},
    {"normalize: of zeros", [](const Tensors& x) { return normalize(nothing(x[0])); }, "F.normalize(x - x.detach())", {{{2, 3}}}, Types::All, Gradients::None},
    {"cosine_similarity", [](const Tensors& x) { return Tensors{cosine_similarity(x[0], x[1]), cosine_similarity(x[0], x[1], 0)}; },
     "F.cosine_similarity(x, y), F.cosine_similarity(x, y, 0)", {{{2, 3}, {2, 3}}, {{2, 1, 3}, {5, 1}}}},
    {"pairwise_distance", [](const Tensors& x) { return Tensors{pairwise_distance(x[0], x[1]), pairwise_distance(x[0], x[1], 1, 1e-6, true), pairwise_distance(x[0], x[1], 3, 0.1)}; },
     "F.pairwise_distance(x, y), F.pairwise_distance(x, y, 1, 1e-6, True), F.pairwise_distance(x, y, 3, 0.1)", {{{2, 3}, {2, 3}}, {{4, 1}, {1}}}},
    {"cdist", [](const Tensors& x) { return Tensors{cdist(x[0], x[1]), cdist(x[0], x[1], 1), cdist(x[0], x[1], 1.5), cdist(x[0], x[1], 0)}; },
     "torch.cdist(x, y), torch.cdist(x, y, 1.0), torch.cdist(x, y, 1.5), torch.cdist(x, y, 0.0)",
     {{{2, 3}, {4, 3}}, {{2, 2, 3}, {1, 1, 3}}, {{2, 3}, {0, 3}}}},
    {"cdist: the largest difference", [](const Tensors& x) { return cdist(x[0], x[1], kInf); }, "torch.cdist(x, y, math.inf)",
     {{{2, 3}, {4, 3}}, {{2, 0}, {3, 0}}}, Types::All, Gradients::First},
    {"cdist: to itself", [](const Tensors& x) { return Tensors{cdist(x[0], x[0]), cdist(x[0], x[0], 1), cdist(x[0], x[0], 1.5)}; },
     "torch.cdist(x, x), torch.cdist(x, x, 1.0), torch.cdist(x, x, 1.5)", {{{3, 2}}}},
    {"pdist", [](const Tensors& x) { return Tensors{pdist(x[0]), pdist(x[0], 1), pdist(x[0], 0)}; }, "torch.pdist(x), torch.pdist(x, 1), torch.pdist(x, 0)",
     {{{4, 3}}, {{1, 2}}, {{5, 1}}}},
}, {
    SURFACE_BAD("vector_norm", vector_norm(vectors({2, 0}), kInf), "0", "[2, 0]"),
    SURFACE_BAD("vector_norm", vector_norm(vectors({2, 3}), std::numeric_limits<double>::quiet_NaN()), "nan", "[2, 3]"),
    SURFACE_BAD("norm", norm(vectors({2, 3}), 2, 2), "2", "[2, 3]"),
    SURFACE_BAD("matrix_norm", matrix_norm(vectors({3})), "1", "2"),
    SURFACE_BAD("matrix_norm", matrix_norm(vectors({3, 3}), "max"), "max", "[3, 3]"),
    SURFACE_BAD("matrix_norm", matrix_norm(vectors({3, 3}), 3), "3", "[3, 3]"),
    SURFACE_BAD("matrix_norm", matrix_norm(vectors({3, 3}), 1, {0, 0}), "0", "[3, 3]"),
    SURFACE_BAD("linalg_norm", linalg_norm(vectors({2, 3, 4}), 2), "3 axes", "[2, 3, 4]"),
    SURFACE_BAD("linalg_norm", linalg_norm(vectors({3}), "nuc"), "nuc", "[3]"),
    SURFACE_BAD("normalize", normalize(vectors({3})), "1", "[3]"),
    SURFACE_BAD("cosine_similarity", cosine_similarity(vectors({2, 3}), vectors({2, 4})), "3", "4"),
    SURFACE_BAD("pairwise_distance", pairwise_distance(vectors({2, 3}), vectors({4})), "[2, 3]", "[4]"),
    SURFACE_BAD("cdist", cdist(vectors({2, 3}), vectors({2, 4})), "3", "4"),
    SURFACE_BAD("cdist", cdist(vectors({2, 3}), vectors({3})), "[2, 3]", "[3]"),
    SURFACE_BAD("cdist", cdist(vectors({2, 3}), vectors({2, 3}), -1), "-1", "0"),
    SURFACE_BAD("pdist", pdist(vectors({2, 3, 4})), "3", "2"),
});
// clang-format on

}  // namespace
