// Products of vectors, matrices and tensors.
#include "sinter/create.h"
#include "sinter/products.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;
using surface::Types;

Tensor factor(Shape shape) { return zeros(shape); }

/// A product of two tensors on these shapes.
Row product(const char* name, Tensor (*f)(Arg, Arg), const char* torch,
            std::vector<std::vector<surface::Input>> cases) {
  return {name, [f](const Tensors& x) { return f(x[0], x[1]); }, torch, std::move(cases)};
}

// clang-format off
const surface::Family kProducts("products", {
    product("matmul", matmul, "torch.matmul(x, y)",
            {{{2, 3}, {3, 4}}, {{3}, {3}}, {{5, 1, 2, 3}, {2, 3, 2}}, {{0, 3}, {3, 2}}, {{2, 0}, {0, 3}}, {{3}, {2, 3, 4}}, {{2, 2, 3}, {3}}}),
    product("mm", mm, "torch.mm(x, y)", {{{2, 3}, {3, 4}}, {{1, 7}, {7, 1}}}),
    product("bmm", bmm, "torch.bmm(x, y)", {{{2, 2, 3}, {2, 3, 4}}, {{0, 2, 3}, {0, 3, 1}}}),
    product("mv", mv, "torch.mv(x, y)", {{{2, 3}, {3}}, {{2, 0}, {0}}}),
    {"linear", [](const Tensors& x) { return Tensors{linear(x[0], x[1]), linear(x[0], x[1], x[2])}; }, "F.linear(x, y), F.linear(x, y, z)",
     {{{2, 3}, {4, 3}, {4}}, {{3}, {2, 3}, {2}}, {{2, 1, 3}, {1, 3}, {1}}, {{2, 0}, {3, 0}, {3}}}},
    product("dot", dot, "torch.dot(x, y)", {{{7}, {7}}, {{0}, {0}}, {{1}, {1}}}),
    {"vecdot", [](const Tensors& x) { return Tensors{vecdot(x[0], x[1]), vecdot(x[0], x[1], 0)}; },
     "torch.linalg.vecdot(x, y), torch.linalg.vecdot(x, y, dim=0)", {{{2, 3}, {2, 3}}, {{2, 1, 3}, {2, 5, 1}}}},
    product("inner", inner, "torch.inner(x, y)", {{{2, 3}, {4, 3}}, {{3}, {3}}, {Shape{}, {2, 3}}, {{2, 1, 3}, {2, 3}}, {{2, 0}, {1, 0}}}),
    product("outer", outer, "torch.outer(x, y)", {{{2}, {3}}, {{0}, {3}}, {{1}, {1}}}),
    {"tensordot",
     [](const Tensors& x) { return Tensors{tensordot(x[0], x[1]), tensordot(x[0], x[1], 0), tensordot(x[0], x[1], {2, 0}, {1, -1}), tensordot(x[0], x[0], {0, 1, 2}, {0, 1, 2})}; },
     "torch.tensordot(x, y), torch.tensordot(x, y, 0), torch.tensordot(x, y, ((2, 0), (1, -1))), torch.tensordot(x, x, ((0, 1, 2), (0, 1, 2)))",
     {{{2, 3, 4}, {3, 4, 2}}, {{1, 1, 5}, {1, 5, 1}}}},
    {"cross", [](const Tensors& x) { return Tensors{cross(x[0], x[1]), cross(x[1], x[0], 0)}; },
     "torch.linalg.cross(x, y), torch.linalg.cross(y, x, dim=0)", {{{3, 3}, {3, 3}}, {{3, 2, 3}, {3, 1, 3}}, {{3, 0, 3}, {3, 1, 3}}}, Types::Numbers},
    product("kron", kron, "torch.kron(x, y)", {{{2, 3}, {3, 2}}, {{2}, {3, 2}}, {{2, 1, 2}, {3}}, {Shape{}, {2}}, {{0, 2}, {3}}}),
    {"einsum",
     [](const Tensors& x) { return Tensors{einsum("ij,jk->ik", {x[0], x[1]}), einsum("ii->i", {x[2]}), einsum("ij,jk,kk", {x[0], x[1], x[2]}), einsum("...i->...", {x[0]})}; },
     "torch.einsum('ij,jk->ik', x, y), torch.einsum('ii->i', z), torch.einsum('ij,jk,kk', x, y, z), torch.einsum('...i->...', x)",
     {{{2, 3}, {3, 4}, {4, 4}}}},
    {"addmm", [](const Tensors& x) { return Tensors{addmm(x[0], x[1], x[2]), addmm(x[0], x[1], x[2], 2, 3), addmm(x[0], x[1], x[2], 0, 2)}; },
     "torch.addmm(x, y, z), torch.addmm(x, y, z, beta=2, alpha=3), torch.addmm(x, y, z, beta=0, alpha=2)",
     {{{2, 4}, {2, 3}, {3, 4}}, {{4}, {2, 3}, {3, 4}}, {{1, 4}, {2, 0}, {0, 4}}}, Types::Numbers},
    {"baddbmm", [](const Tensors& x) { return Tensors{baddbmm(x[0], x[1], x[2]), baddbmm(x[0], x[1], x[2], 3, 2)}; },
     "torch.baddbmm(x, y, z), torch.baddbmm(x, y, z, beta=3, alpha=2)", {{{2, 2, 4}, {2, 2, 3}, {2, 3, 4}}, {{1, 4}, {2, 2, 3}, {2, 3, 4}}}, Types::Numbers},
    {"addmv", [](const Tensors& x) { return Tensors{addmv(x[0], x[1], x[2]), addmv(x[0], x[1], x[2], 0, 2)}; },
     "torch.addmv(x, y, z), torch.addmv(x, y, z, beta=0, alpha=2)", {{{2}, {2, 3}, {3}}, {{1}, {2, 3}, {3}}}, Types::Numbers},
    {"matrix_power: of inverses", [](const Tensors& x) { const Tensor a = x[0] + 2 * eye(x[0].size(-1)).to(x[0].dtype()); return Tensors{matrix_power(a, -1), matrix_power(a, -3)}; },
     "(lambda a: (torch.linalg.matrix_power(a, -1), torch.linalg.matrix_power(a, -3)))(x + 2 * torch.eye(x.shape[-1]))", {{{3, 3}}, {{2, 2, 2}}}, Types::Floats},
    {"matrix_power", [](const Tensors& x) { return Tensors{matrix_power(x[0], 3), matrix_power(x[0], 0), matrix_power(x[0], 1), matrix_power(x[0], 6)}; },
     "torch.matrix_power(x, 3), torch.matrix_power(x, 0), torch.matrix_power(x, 1), torch.matrix_power(x, 6)", {{{3, 3}}, {{2, 1, 1}}, {{2, 2, 2}}}},
    {"multi_dot", [](const Tensors& x) { return multi_dot({x[0], x[1], x[2], x[3]}); }, "torch.linalg.multi_dot((x, y, z, u))",
     {{{2, 5}, {5, 1}, {1, 4}, {4, 3}}, {{3}, {3, 2}, {2, 4}, {4}}, {{3, 2}, {2, 2}, {2, 4}, {4}}}},
}, {
    SURFACE_BAD("mm", mm(factor({2, 3}), factor({4, 3})), "3", "4"),
    SURFACE_BAD("mm", mm(factor({2, 3}), factor({3})), "[2, 3]", "[3]"),
    SURFACE_BAD("bmm", bmm(factor({2, 2, 3}), factor({1, 3, 4})), "2", "1"),
    SURFACE_BAD("mv", mv(factor({2, 3}), factor({3, 1})), "[2, 3]", "[3, 1]"),
    SURFACE_BAD("linear", linear(factor({2, 3}), factor({4, 2})), "3", "2"),
    SURFACE_BAD("linear", linear(factor({2, 3}), factor({3})), "[3]", "[out, in]"),
    SURFACE_BAD("linear", linear(factor({2, 3}), factor({4, 3}), factor({3})), "[3]", "[4, 3]"),
    SURFACE_BAD("vecdot", vecdot(factor({2, 3}), factor({4})), "[2, 3]", "[4]"),
    SURFACE_BAD("inner", inner(factor({2, 3}), factor({3, 2})), "3", "2"),
    SURFACE_BAD("outer", outer(factor({2, 3}), factor({3})), "[2, 3]", "[3]"),
    SURFACE_BAD("tensordot", tensordot(factor({2, 3}), factor({3, 2})), "2", "3"),
    SURFACE_BAD("tensordot", tensordot(factor({2, 3}), factor({3}), 2), "2", "[3]"),
    SURFACE_BAD("tensordot", tensordot(factor({2, 3}), factor({3}), {0, 1}, {0}), "2", "1"),
    SURFACE_BAD("cross", cross(factor({2, 3}), factor({2, 3}), 0), "2", "3"),
    SURFACE_BAD("cross", cross(factor({3}).to(boolean), factor({3}).to(boolean)), "bool [3]", "to(int64)"),
    SURFACE_BAD("addmm", addmm(factor({3, 4}), factor({2, 3}), factor({3, 4})), "[3, 4]", "[2, 4]"),
    SURFACE_BAD("addmm", addmm(factor({2, 4}).to(int32), factor({2, 3}).to(int32), factor({3, 4}).to(int32), 0.5), "0.5", "int32"),
    SURFACE_BAD("baddbmm", baddbmm(factor({2, 4}), factor({1, 2, 3}), factor({2, 3, 4})), "1", "2"),
    SURFACE_BAD("addmv", addmv(factor({3}), factor({2, 3}), factor({3})), "[3]", "[2]"),
    SURFACE_BAD("matrix_power", matrix_power(factor({2, 3}), 2), "[2, 3]", "2"),
    SURFACE_BAD("matrix_power", matrix_power(factor({2, 2}).to(int64), -1), "[2, 2]", "-1"),
    SURFACE_BAD("multi_dot", multi_dot({factor({2, 3}), factor({4, 3})}), "3", "[4, 3]"),
    SURFACE_BAD("multi_dot", multi_dot({factor({2, 3})}), "1", "2"),
});
// clang-format on

}  // namespace
