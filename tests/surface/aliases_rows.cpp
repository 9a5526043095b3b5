// Functions under PyTorch's other names.
#include "sinter/aliases.h"
#include "sinter/create.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::binary;
using surface::of_types;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::unary;
using surface::within;
using surface::without_gradients;

Tensor items(Shape shape) { return zeros(shape); }

Row compared(std::string name, Tensor (*f)(Arg, Arg), std::string torch) {
  return without_gradients(within(binary(std::move(name), f, std::move(torch)), -3, 3));
}

const surface::Family kAliases(
    "aliases",
    {
        unary("absolute", absolute, "torch.absolute(x)"),
        within(unary("arccos", arccos, "torch.arccos(x)"), -0.9, 0.9),
        within(unary("arccosh", arccosh, "torch.arccosh(x)"), 1.2, 3),
        within(unary("arcsin", arcsin, "torch.arcsin(x)"), -0.9, 0.9),
        within(unary("arcsinh", arcsinh, "torch.arcsinh(x)"), -3, 3),
        within(unary("arctan", arctan, "torch.arctan(x)"), -3, 3),
        within(unary("arctanh", arctanh, "torch.arctanh(x)"), -0.9, 0.9),
        without_gradients(within(unary("fix", fix, "torch.fix(x)"), -3, 3)),
        of_types(unary("neg", neg, "torch.neg(x)"), Types::Numbers),
        within(binary("arctan2", arctan2, "torch.arctan2(x, y)"), -2, 2),
        binary("multiply", multiply, "torch.multiply(x, y)"),
        of_types(binary(
                     "subtract", [](Arg a, Arg b) { return subtract(a, b, 3); }, "torch.subtract(x, y, alpha=3)"),
                 Types::Numbers),
        within(binary(
                   "divide", [](Arg a, Arg b) { return divide(a, b); }, "torch.divide(x, y)"),
               0.3, 2),
        of_types(without_gradients(within(binary(
                                              "divide, down", [](Arg a, Arg b) { return divide(a, b, "floor"); },
                                              "torch.divide(x, y, rounding_mode='floor')"),
                                          0.3, 5)),
                 Types::Numbers),
        compared("less", less, "torch.less(x, y)"),
        compared("less_equal", less_equal, "torch.less_equal(x, y)"),
        compared("greater", greater, "torch.greater(x, y)"),
        compared("greater_equal", greater_equal, "torch.greater_equal(x, y)"),
        compared("not_equal", not_equal, "torch.not_equal(x, y)"),
        Row{"clip",
            [](const Tensors& x) {
              return Tensors{clip(x[0], x[1] - 1, x[2]), clip(x[0], x[2]), clip(x[0], std::nullopt, x[1])};
            },
            "torch.clip(x, y - 1, z), torch.clip(x, z), torch.clip(x, max=y)",
            {{{2, 3}, {3}, {2, 1}}}},
        Row{"moveaxis",
            [](const Tensors& x) { return Tensors{moveaxis(x[0], 0, 2), moveaxis(x[0], {0, -1}, {-2, 0})}; },
            "torch.moveaxis(x, 0, 2), torch.moveaxis(x, (0, -1), (-2, 0))",
            {{{2, 3, 1, 5}}}},
        Row{"swapdims",
            [](const Tensors& x) { return swapdims(x[0], 0, -1); },
            "torch.swapdims(x, 0, -1)",
            {{{2, 3, 4}}}},
        Row{"split_with_sizes",
            [](const Tensors& x) { return split_with_sizes(x[0], {1, 0, 4}); },
            "torch.split_with_sizes(x, [1, 0, 4])",
            {{{5, 3}}}},
        Row{"concatenate",
            [](const Tensors& x) { return concatenate({x[0], x[1]}, 1); },
            "torch.concatenate((x, y), 1)",
            {{{2, 3}, {2, 1}}}},
        Row{"row_stack",
            [](const Tensors& x) { return row_stack({x[0], x[1]}); },
            "torch.row_stack((x, y))",
            {{{2, 3}, {1, 3}}, {{3}, {3}}}},
        Row{"broadcast_tensors",
            [](const Tensors& x) { return broadcast_tensors({x[0], x[1], x[2]}); },
            "torch.broadcast_tensors(x, y, z)",
            {{{2, 1}, {3}, Shape{}}}},
        Row{"trapz",
            [](const Tensors& x) { return Tensors{trapz(x[0], 0.25, 1), trapz(x[0], x[1])}; },
            "torch.trapz(x, dx=0.25, dim=1), torch.trapz(x, y)",
            {{{2, 5}, {5}}}},
    },
    {
        SURFACE_BAD("arctan2", arctan2(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("multiply", multiply(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("subtract", subtract(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("divide", divide(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("less", less(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("less_equal", less_equal(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("greater", greater(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("greater_equal", greater_equal(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("not_equal", not_equal(items({2}), items({3})), "[2]", "[3]"),
        SURFACE_BAD("neg", neg(items({2}).to(boolean)), "numbers", "bool"),
        SURFACE_BAD("clip", clip(items({2}), items({3}), 1.0), "[2]", "[3]"),
        SURFACE_BAD("moveaxis", moveaxis(items({2, 3}), {0, 0}, {1, 0}), "axis 0", "[2, 3]"),
        SURFACE_BAD("swapdims", swapdims(items({2, 3}), 0, 2), "2", "[2, 3]"),
        SURFACE_BAD("split_with_sizes", split_with_sizes(items({5}), {2, 2}), "4", "5"),
        SURFACE_BAD("concatenate", concatenate({items({2, 3}), items({2, 4})}), "[2, 3]", "[2, 4]"),
        SURFACE_BAD("row_stack", row_stack({items({3}), items({4})}), "[1, 3]", "[1, 4]"),
        SURFACE_BAD("broadcast_tensors", broadcast_tensors({items({3}), items({4})}), "[3]", "[4]"),
        SURFACE_BAD("trapz", trapz(items({2, 3}), items({2})), "[2]", "[2, 3]"),
    });

}  // namespace
