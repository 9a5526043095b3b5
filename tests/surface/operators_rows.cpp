// The operators by name, and comparisons.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/jit.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::binary;
using surface::Gradients;
using surface::of_types;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::unary;
using surface::within;
using surface::without_gradients;

Tensor filled(Shape shape, DType dtype = float32) { return ones(shape).to(dtype); }

/// Of integers and bools, none of which has a gradient.
Row bits(std::string name, Tensor (*f)(Arg, Arg), std::string torch, Types types) {
  return without_gradients(of_types(within(binary(std::move(name), f, std::move(torch)), 0, 9), types));
}
Row compared(std::string name, Tensor (*f)(Arg, Arg), std::string torch) {
  return without_gradients(within(binary(std::move(name), f, std::move(torch)), -3, 3));
}

const std::vector<Row> kRows = {
    binary(
        "add", [](Arg a, Arg b) { return add(a, b); }, "torch.add(x, y)"),
    binary(
        "add, alpha", [](Arg a, Arg b) { return add(a, b, 3); }, "torch.add(x, y, alpha=3)"),
    of_types(binary(
                 "sub", [](Arg a, Arg b) { return sub(a, b); }, "torch.sub(x, y)"),
             Types::Numbers),
    of_types(binary(
                 "sub, alpha", [](Arg a, Arg b) { return sub(a, b, 3); }, "torch.sub(x, y, alpha=3)"),
             Types::Numbers),
    binary("mul", mul, "torch.mul(x, y)"),
    within(binary(
               "div", [](Arg a, Arg b) { return div(a, b); }, "torch.div(x, y)"),
           0.3, 2),
    without_gradients(of_types(within(binary(
                                          "div, toward 0", [](Arg a, Arg b) { return div(a, b, RoundingMode::Trunc); },
                                          "torch.div(x, y, rounding_mode='trunc')"),
                                      0.3, 5),
                               Types::Numbers)),
    without_gradients(of_types(within(binary(
                                          "div, down", [](Arg a, Arg b) { return div(a, b, RoundingMode::Floor); },
                                          "torch.div(x, y, rounding_mode='floor')"),
                                      0.3, 5),
                               Types::Numbers)),
    Row{"div of integers, toward 0",
        [](const Tensors& x) { return div(x[0].to(int32), x[1].to(int32) * 2 + 1, RoundingMode::Trunc); },
        "torch.div(x.int(), y.int() * 2 + 1, rounding_mode='trunc')",
        {{{5, 1}, {20}}},
        Types::All,
        Gradients::None,
        -9,
        9},
    within(binary("true_divide", true_divide, "torch.true_divide(x, y)"), 0.3, 2),
    of_types(unary("positive", positive, "torch.positive(x)"), Types::Numbers),
    of_types(unary("negative", negative, "torch.negative(x)"), Types::Numbers),
    of_types(within(Row{"addcmul",
                        [](const Tensors& x) { return addcmul(x[0], x[1], x[2], 2); },
                        "torch.addcmul(x, y, z, value=2)",
                        {{{2, 3}, {2, 3}, {2, 3}}, {{3, 1}, {2}, {1}}}},
                    -2, 2),
             Types::Numbers),
    within(binary("float_power", float_power, "torch.float_power(x, y)"), 0.3, 2),
    compared("eq", eq, "torch.eq(x, y)"),
    compared("ne", ne, "torch.ne(x, y)"),
    compared("lt", lt, "torch.lt(x, y)"),
    compared("le", le, "torch.le(x, y)"),
    compared("gt", gt, "torch.gt(x, y)"),
    compared("ge", ge, "torch.ge(x, y)"),
    compared(
        "isclose", [](Arg a, Arg b) { return isclose(a, b, 0.3, 0.1); }, "torch.isclose(x, y, 0.3, 0.1)"),
    compared(
        "isclose, equal_nan", [](Arg a, Arg b) { return isclose(a, b, 1e-5, 1e-8, true); },
        "torch.isclose(x, y, equal_nan=True)"),
    without_gradients(unary("signbit", signbit, "torch.signbit(x)")),
    bits("bitwise_and", bitwise_and, "torch.bitwise_and(x, y)", Types::IntegersAndBool),
    bits("bitwise_or", bitwise_or, "torch.bitwise_or(x, y)", Types::IntegersAndBool),
    bits("bitwise_xor", bitwise_xor, "torch.bitwise_xor(x, y)", Types::IntegersAndBool),
    without_gradients(of_types(unary("bitwise_not", bitwise_not, "torch.bitwise_not(x)"), Types::IntegersAndBool)),
    bits("bitwise_left_shift", bitwise_left_shift, "torch.bitwise_left_shift(x, y)", Types::Integers),
    bits("bitwise_right_shift", bitwise_right_shift, "torch.bitwise_right_shift(x, y)", Types::Integers),
    Row{"allclose",
        [](const Tensors& x) {
          return Tensors{Tensor(allclose(x[0], x[0] + 1e-9)), Tensor(allclose(x[0], x[0] + 1)),
                         Tensor(allclose(x[0], x[1], 1, 4))};
        },
        "[torch.tensor(torch.allclose(x, x + 1e-9)), torch.tensor(torch.allclose(x, x + 1)), "
        "torch.tensor(torch.allclose(x, y, 1, 4))]",
        {{{2, 3}, {3}}},
        Types::All,
        Gradients::None},
    Row{"equal",
        [](const Tensors& x) {
          return Tensors{Tensor(equal(x[0], x[0] + 0)), Tensor(equal(x[0], x[1])), Tensor(equal(x[0], x[0] + 1))};
        },
        "[torch.tensor(torch.equal(x, x + 0)), torch.tensor(torch.equal(x, y)), torch.tensor(torch.equal(x, x + 1))]",
        {{{2, 3}, {3}}},
        Types::All,
        Gradients::None},
};

const surface::Family kOperators(
    "operators", kRows,
    {
        SURFACE_BAD("add", add(filled({2}), filled({3})), "[2]", "[3]"),
        SURFACE_BAD("add", add(filled({2}, int32), filled({2}, int32), 1.5), "1.5", "int32"),
        SURFACE_BAD("sub", sub(filled({2}, boolean), filled({1, 2}, boolean)), "bool [2]", "bool [1, 2]"),
        SURFACE_BAD("mul", mul(filled({2}), filled({3})), "[2]", "[3]"),
        SURFACE_BAD("div", div(filled({2}, boolean), filled({1, 2}, boolean), RoundingMode::Trunc), "bool [2]",
                    "bool [1, 2]"),
        SURFACE_BAD("positive", positive(filled({2}, boolean)), "numbers", "bool"),
        SURFACE_BAD("negative", negative(filled({2}, boolean)), "numbers", "bool"),
        SURFACE_BAD("eq", eq(filled({2}), filled({3})), "[2]", "[3]"),
        SURFACE_BAD("bitwise_and", bitwise_and(filled({2}), filled({3}, int32)), "integers", "float32"),
        SURFACE_BAD("bitwise_left_shift", bitwise_left_shift(filled({2}, boolean), filled({3}, boolean)), "integers",
                    "bool"),
        SURFACE_BAD("addcmul", addcmul(filled({2}), filled({3}), 1), "[2]", "[3]"),
        SURFACE_BAD("isclose", isclose(filled({2}), filled({3})), "[2]", "[3]"),
        SURFACE_BAD("allclose", allclose(filled({2}), filled({3})), "[2]", "[3]"),
        {"allclose", [] { jit([](const Tensor& x) { return allclose(x, 1) ? x : -x; })(filled({2})); }, "reads",
         "return the tensor"},
        {"equal", [] { jit([](const Tensor& x) { return equal(x, x + 1) ? x : -x; })(filled({2})); }, "reads",
         "return the tensor"},
    });

}  // namespace
