// Parts, other shapes and joins. A row calls a function's forms at once.
#include "sinter/create.h"
#include "sinter/movement.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

Tensors joined(std::initializer_list<Tensors> lists) {
  Tensors out;
  for (const Tensors& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}
Tensor cells(Shape shape) { return zeros(shape); }

// clang-format off
const surface::Family kMovement("movement", {
    {"reshape", [](const Tensors& x) { return Tensors{reshape(x[0], {3, -1}), x[0].reshape({1, 6})}; },
     "torch.reshape(x, (3, -1)), x.reshape(1, 6)", {{{2, 3}}}},
    {"flatten", [](const Tensors& x) { return Tensors{flatten(x[0]), flatten(x[0], 1, 2), x[0].flatten(0, -2)}; },
     "torch.flatten(x), torch.flatten(x, 1, 2), x.flatten(0, -2)", {{{2, 3, 2}}, {{2, 0, 3}}}},
    {"ravel", [](const Tensors& x) { return ravel(x[0]); }, "torch.ravel(x)", {{{2, 3}}, {Shape{}}, {{0, 2}}}},
    {"unflatten", [](const Tensors& x) { return Tensors{unflatten(x[0], 1, {2, 3}), unflatten(x[0], -1, {-1, 1, 3})}; },
     "torch.unflatten(x, 1, (2, 3)), torch.unflatten(x, -1, (-1, 1, 3))", {{{2, 6}}, {{0, 6}}}},
    {"reshape_as", [](const Tensors& x) { return reshape_as(x[0], x[1]); }, "x.reshape_as(y)", {{{2, 3}, surface::mask({3, 2})}}},
    {"view_as", [](const Tensors& x) { return view_as(x[0], x[1]); }, "x.view_as(y)", {{{2, 3}, surface::mask({6})}}},
    {"permute", [](const Tensors& x) { return Tensors{permute(x[0], {2, 0, 1}), x[0].permute({1, -1, 0})}; },
     "torch.permute(x, (2, 0, 1)), x.permute(1, -1, 0)", {{{2, 3, 4}}, {{1, 0, 2}}}},
    {"transpose", [](const Tensors& x) { return Tensors{transpose(x[0]), transpose(x[0], 0, 2), x[0].transpose(-1, 0)}; },
     "x.mT, torch.transpose(x, 0, 2), x.transpose(-1, 0)", {{{2, 3, 4}}}},
    {"swapaxes", [](const Tensors& x) { return swapaxes(x[0], 0, -1); }, "torch.swapaxes(x, 0, -1)", {{{2, 3, 4}}}},
    {"t", [](const Tensors& x) { return Tensors{t(x[0]), t(x[1]), t(x[2])}; }, "torch.t(x), torch.t(y), torch.t(z)",
     {{{2, 3}, {2}, Shape{}}}},
    {"movedim", [](const Tensors& x) { return Tensors{movedim(x[0], 0, 2), movedim(x[0], {0, -1}, {-2, 0}), x[0].movedim(-1, 1)}; },
     "torch.movedim(x, 0, 2), torch.movedim(x, (0, -1), (-2, 0)), x.movedim(-1, 1)", {{{2, 3, 1, 5}}}},
    {"squeeze", [](const Tensors& x) { return Tensors{squeeze(x[0]), squeeze(x[0], {0, 1}), x[0].squeeze(-2)}; },
     "torch.squeeze(x), torch.squeeze(x, (0, 1)), x.squeeze(-2)", {{{1, 3, 1, 2}}}},
    {"unsqueeze", [](const Tensors& x) { return Tensors{unsqueeze(x[0], 0), unsqueeze(x[0], -1), x[0].unsqueeze(1)}; },
     "torch.unsqueeze(x, 0), torch.unsqueeze(x, -1), x.unsqueeze(1)", {{{3, 2}}}},
    {"atleast_1d", [](const Tensors& x) { return Tensors{atleast_1d(x[0]), atleast_1d(x[1])}; },
     "torch.atleast_1d(x), torch.atleast_1d(y)", {{Shape{}, {2, 3}}}},
    {"atleast_2d", [](const Tensors& x) { return Tensors{atleast_2d(x[0]), atleast_2d(x[1]), atleast_2d(x[2])}; },
     "torch.atleast_2d(x), torch.atleast_2d(y), torch.atleast_2d(z)", {{Shape{}, {3}, {1, 2, 3}}}},
    {"atleast_3d", [](const Tensors& x) { return Tensors{atleast_3d(x[0]), atleast_3d(x[1]), atleast_3d(x[2])}; },
     "torch.atleast_3d(x), torch.atleast_3d(y), torch.atleast_3d(z)", {{Shape{}, {3}, {2, 3}}}},
    {"expand", [](const Tensors& x) { return x[0].expand({4, -1, 3}); }, "x.expand(4, -1, 3)", {{{2, 1}}}},
    {"broadcast_to", [](const Tensors& x) { return broadcast_to(x[0], {2, 3, 4}); }, "torch.broadcast_to(x, (2, 3, 4))",
     {{{3, 1}}, {Shape{}}}},
    {"expand_as", [](const Tensors& x) { return expand_as(x[0], x[1]); }, "x.expand_as(y)", {{{3, 1}, surface::mask({2, 3, 4})}}},
    {"narrow", [](const Tensors& x) { return Tensors{narrow(x[0], 0, 1, 2), narrow(x[0], -1, -2, 1), narrow(x[0], 0, 3, 0)}; },
     "torch.narrow(x, 0, 1, 2), torch.narrow(x, -1, -2, 1), torch.narrow(x, 0, 3, 0)", {{{3, 4}}}},
    {"select", [](const Tensors& x) { return Tensors{select(x[0], 0, 1), select(x[0], -1, -1)}; },
     "torch.select(x, 0, 1), torch.select(x, -1, -1)", {{{3, 4}}, {{2, 1, 5}}}},
    {"slice", [](const Tensors& x) { return Tensors{x[0].slice(0, {.begin = 1, .end = 4}), x[0].slice(1, {.begin = 1, .step = 2})}; },
     "x[1:4], x[:, 1::2]", {{{5, 4}}}},
    {"index", [](const Tensors& x) { return Tensors{x[0].index({1, ellipsis, Slice{.end = -1}}), x[0].index({newaxis, Slice{}, x[1]}), x[0][x[1]]}; },
     "x[1, ..., :-1], x[None, :, y], x[y]", {{{3, 3}, surface::indices({2}, 3)}}},
    {"Tensor::unfold", [](const Tensors& x) { return Tensors{x[0].unfold(0, 2, 1), x[0].unfold(-1, 3, 2), x[0].unfold(0, 1, 3)}; },
     "x.unfold(0, 2, 1), x.unfold(-1, 3, 2), x.unfold(0, 1, 3)", {{{4, 5}}, {{2, 2, 3}}}},
    {"unbind", [](const Tensors& x) { return joined({unbind(x[0]), unbind(x[0], -1)}); }, "torch.unbind(x) + torch.unbind(x, -1)",
     {{{2, 3}}, {{2, 0}}}},
    {"split", [](const Tensors& x) { return joined({split(x[0], 2), split(x[0], {1, 0, 4}), split(x[0], {3}, 1), x[0].split(2, 1)}); },
     "torch.split(x, 2) + torch.split(x, [1, 0, 4]) + torch.split(x, [3], 1) + x.split(2, 1)", {{{5, 3}}}},
    {"chunk", [](const Tensors& x) { return joined({chunk(x[0], 3), x[0].chunk(2, 1)}); }, "torch.chunk(x, 3) + x.chunk(2, 1)", {{{5, 3}}}},
    {"array_split", [](const Tensors& x) { return joined({array_split(x[0], 3), array_split(x[0], 4, 1)}); },
     "torch.tensor_split(x, 3) + torch.tensor_split(x, 4, 1)", {{{5, 3}}}},
    {"tensor_split", [](const Tensors& x) { return joined({tensor_split(x[0], 2), tensor_split(x[0], {3}), tensor_split(x[0], {-2, 1, 9}, 1)}); },
     "torch.tensor_split(x, 2) + torch.tensor_split(x, (3,)) + torch.tensor_split(x, (-2, 1, 9), 1)", {{{5, 3}}}},
    {"hsplit", [](const Tensors& x) { return joined({hsplit(x[0], 3), hsplit(x[0], {1, -1}), hsplit(x[1], {2}), hsplit(x[1], 2)}); },
     "torch.hsplit(x, 3) + torch.hsplit(x, (1, -1)) + torch.hsplit(y, (2,)) + torch.hsplit(y, 2)", {{{5, 3}, {4}}}},
    {"vsplit", [](const Tensors& x) { return joined({vsplit(x[0], 2), vsplit(x[0], {1, 3})}); },
     "torch.vsplit(x, 2) + torch.vsplit(x, (1, 3))", {{{4, 3}}}},
    {"cat", [](const Tensors& x) { return Tensors{cat({x[0], x[1], x[0]}), cat({x[0], x[0]}, -1)}; },
     "torch.cat((x, y, x)), torch.cat((x, x), -1)", {{{2, 3}, {1, 3}}, {{0, 3}, {2, 3}}}},
    {"concat", [](const Tensors& x) { return concat({x[0], x[1]}, 1); }, "torch.concat((x, y), 1)", {{{2, 3}, {2, 1}}}},
    {"stack", [](const Tensors& x) { return Tensors{stack({x[0], x[1]}), stack({x[0], x[1], x[0]}, -1)}; },
     "torch.stack((x, y)), torch.stack((x, y, x), -1)", {{{2, 3}, {2, 3}}, {Shape{}, Shape{}}}},
    {"hstack", [](const Tensors& x) { return hstack({x[0], x[1]}); }, "torch.hstack((x, y))",
     {{{2, 3}, {2, 1}}, {{2}, {3}}, {Shape{}, Shape{}}}},
    {"vstack", [](const Tensors& x) { return vstack({x[0], x[1]}); }, "torch.vstack((x, y))",
     {{{2, 3}, {1, 3}}, {{3}, {3}}, {Shape{}, Shape{}}}},
    {"dstack", [](const Tensors& x) { return dstack({x[0], x[1]}); }, "torch.dstack((x, y))",
     {{{2, 3, 1}, {2, 3, 2}}, {{3}, {3}}, {{2, 3}, {2, 3}}}},
    {"column_stack", [](const Tensors& x) { return column_stack({x[0], x[1]}); }, "torch.column_stack((x, y))",
     {{{2, 3}, {2, 1}}, {{3}, {3}}, {{2}, {2, 3}}, {Shape{}, Shape{}}}},
    {"broadcast", [](const Tensors& x) { return broadcast({x[0], x[1], x[2]}); }, "torch.broadcast_tensors(x, y, z)",
     {{{2, 1}, {3}, Shape{}}}},
    {"meshgrid", [](const Tensors& x) { return joined({meshgrid({x[0], x[1], x[2]}), meshgrid({x[0], x[1], x[2]}, GridOrder::XY)}); },
     "torch.meshgrid(x, y, z, indexing='ij') + torch.meshgrid(x, y, z, indexing='xy')", {{{2}, {3}, Shape{}}, {{2}, {1}, {0}}}},
    {"cartesian_prod", [](const Tensors& x) { return Tensors{cartesian_prod({x[0], x[1]}), cartesian_prod({x[0]})}; },
     "torch.cartesian_prod(x, y), torch.cartesian_prod(x)", {{{2}, {3}}}},
}, {
    SURFACE_BAD("reshape", reshape(cells({2, 3}), {4}), "[2, 3]", "[4]"),
    SURFACE_BAD("unflatten", unflatten(cells({2, 6}), 1, {4, 2}), "6", "[4, 2]"),
    SURFACE_BAD("unflatten", unflatten(cells({2, 6}), 1, {-1, 4}), "6", "[-1, 4]"),
    SURFACE_BAD("view_as", view_as(cells({2, 3}), cells({4})), "[2, 3]", "[4]"),
    SURFACE_BAD("t", t(cells({2, 3, 4})), "[2, 3, 4]", "2"),
    SURFACE_BAD("movedim", movedim(cells({2, 3}), {0, 1}, {1}), "[0, 1]", "[1]"),
    SURFACE_BAD("movedim", movedim(cells({2, 3}), {0, 0}, {1, 0}), "axis 0", "[2, 3]"),
    SURFACE_BAD("swapaxes", swapaxes(cells({2, 3}), 0, 2), "2", "[2, 3]"),
    SURFACE_BAD("broadcast_to", broadcast_to(cells({2, 3}), {2, 4}), "3", "4"),
    SURFACE_BAD("expand_as", expand_as(cells({3}), cells({4})), "3", "4"),
    SURFACE_BAD("narrow", narrow(cells({4}), 0, 3, 2), "3", "2"),
    SURFACE_BAD("narrow", narrow(cells({4}), 0, 0, -1), "-1", "4"),
    SURFACE_BAD("narrow", narrow(cells({4}), 0, Tensor(0), 5), "5", "4"),
    SURFACE_BAD("select", select(cells({2, 3}), 1, 3), "3", "axis 1"),
    SURFACE_BAD("unfold", cells({2, 3}).unfold(1, 4, 1), "4 elements", "[2, 3]"),
    SURFACE_BAD("unbind", unbind(cells({2, 3}), 2), "2", "[2, 3]"),
    SURFACE_BAD("split", split(cells({5}), {2, 2}), "4", "5"),
    SURFACE_BAD("split", split(cells({5}), {6, -1}), "-1", "[6, -1]"),
    SURFACE_BAD("tensor_split", tensor_split(cells({5}), 0), "0", "[5]"),
    SURFACE_BAD("hstack", hstack({cells({2, 3}), cells({3, 3})}), "[2, 3]", "[3, 3]"),
    SURFACE_BAD("vstack", vstack({cells({3}), cells({4})}), "[1, 3]", "[1, 4]"),
    SURFACE_BAD("dstack", dstack({cells({3}), cells({4})}), "[1, 3, 1]", "[1, 4, 1]"),
    SURFACE_BAD("column_stack", column_stack({cells({3}), cells({4})}), "[3, 1]", "[4, 1]"),
    SURFACE_BAD("hsplit", hsplit(cells({}), 2), "axis 1", "[]"),
    SURFACE_BAD("vsplit", vsplit(cells({2, 3}), 0), "0", "[2, 3]"),
    SURFACE_BAD("concat", concat({cells({2, 3}), cells({2, 4})}), "[2, 3]", "[2, 4]"),
    SURFACE_BAD("meshgrid", meshgrid({cells({2}), cells({2, 3})}), "vector 1", "[2, 3]"),
    SURFACE_BAD("cartesian_prod", cartesian_prod({cells({2}), cells({})}), "0", "1"),
});
// clang-format on

}  // namespace
