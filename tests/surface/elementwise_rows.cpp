// Functions of elements.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::binary;
using surface::differentiable_once;
using surface::mask;
using surface::of_types;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::unary;
using surface::within;
using surface::without_gradients;

Tensor zeros_of(Shape shape) { return zeros(shape); }

const Row kSign = [] {
  Row row = without_gradients(unary("sign", sign, "torch.sign(x)"));
  row.because = "NaN passes through, as in NumPy; PyTorch gives 0";
  return row;
}();

/// Functions of numbers that integers have another way.
const std::vector<Row> kOfSeveral = {
    of_types(within(binary("pow", pow, "torch.pow(x, y)"), 0.3, 2), Types::Numbers),
    without_gradients(
        of_types(within(binary("floor_divide", floor_divide, "torch.floor_divide(x, y)"), 0.3, 3), Types::Numbers)),
    of_types(within(binary("remainder", remainder, "torch.remainder(x, y)"), 0.3, 3), Types::Numbers),
    of_types(within(binary("fmod", fmod, "torch.fmod(x, y)"), -3, 3), Types::Numbers),
    binary("clamp_min", clamp_min, "torch.clamp_min(x, y)"),
    binary("clamp_max", clamp_max, "torch.clamp_max(x, y)"),
    without_gradients(binary("heaviside", heaviside, "torch.heaviside(x, y)")),
    unary(
        "nan_to_num", [](Arg x) { return nan_to_num(x); }, "torch.nan_to_num(x)"),
    unary(
        "nan_to_num, given numbers", [](Arg x) { return nan_to_num(x, 1.5, 2, -3); },
        "torch.nan_to_num(x, 1.5, 2, -3)"),
    of_types(within(unary("frac", frac, "torch.frac(x)"), -3, 3), Types::Floats),
    Row{"clamp",
        [](const Tensors& x) { return clamp(x[0], x[1] - 1, x[2]); },
        "torch.clamp(x, y - 1, z)",
        {{{2, 3}, {3}, {2, 1}}}},
    Row{"clamp, a NaN bound",
        [](const Tensors& x) { return clamp(x[0], x[1] / 0.0 * 0.0, 0.5); },
        "torch.clamp(x, y / 0. * 0., torch.tensor(0.5))",
        {{{2, 3}, {3}}},
        Types::All,
        surface::Gradients::None},
    Row{"where",
        [](const Tensors& x) { return where(x[0], x[1], x[2]); },
        "torch.where(x, y, z)",
        {{mask({2, 3}), {2, 3}, {2, 3}}, {mask({3, 1}), {2}, {1}}}},
    Row{"masked_fill",
        [](const Tensors& x) { return masked_fill(x[0], x[1], 2); },
        "torch.masked_fill(x, y, 2)",
        {{{2, 3}, mask({2, 3})}, {{1, 3}, mask({2, 1})}}},
    // Of integers, whichever the type.
    Row{"pow of integers",
        [](const Tensors& x) { return pow(x[0].to(int32), x[1].to(int32)); },
        "torch.pow(x.int(), y.int())",
        {{{5, 1}, {40}}},
        Types::All,
        surface::Gradients::None,
        -12,
        12},
    Row{"fmod of integers",
        [](const Tensors& x) { return fmod(x[0].to(int32), x[1].to(int32) * 2 + 1); },
        "torch.fmod(x.int(), y.int() * 2 + 1)",
        {{{5, 1}, {20}}},
        Types::All,
        surface::Gradients::None,
        -9,
        9},
    Row{"remainder of integers",
        [](const Tensors& x) { return remainder(x[0].to(int32), x[1].to(int32) * 2 + 1); },
        "torch.remainder(x.int(), y.int() * 2 + 1)",
        {{{5, 1}, {20}}},
        Types::All,
        surface::Gradients::None,
        -9,
        9},
    Row{"floor_divide of integers",
        [](const Tensors& x) { return floor_divide(x[0].to(int32), x[1].to(int32) * 2 + 1); },
        "torch.floor_divide(x.int(), y.int() * 2 + 1)",
        {{{5, 1}, {20}}},
        Types::All,
        surface::Gradients::None,
        -9,
        9},
};

const surface::Family kSeveral(
    "several", kOfSeveral,
    {
        SURFACE_BAD("clamp", clamp(zeros_of({2}), zeros_of({3}), 1.0), "[2]", "[3]"),
        SURFACE_BAD("pow", pow(zeros_of({2}).to(int32), -2), "int32", "-2"),
        SURFACE_BAD("floor_divide", floor_divide(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("remainder", remainder(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("fmod", fmod(zeros_of({2}).to(boolean), zeros_of({1, 2}).to(boolean)), "bool [2]", "bool [1, 2]"),
        SURFACE_BAD("where", where(zeros_of({2}), 1.0, zeros_of({2})), "bool", "float32"),
        SURFACE_BAD("masked_fill", masked_fill(zeros_of({2}), zeros_of({2}), 1.0), "bool", "float32"),
        SURFACE_BAD("masked_fill", masked_fill(zeros_of({2}), zeros_of({2}).to(boolean), zeros_of({2, 1})),
                    "float32 [2]", "float32 [2, 1]"),
        SURFACE_BAD("masked_fill", masked_fill(zeros_of({2}).to(int8), zeros_of({2}).to(boolean), 200), "200", "int8"),
        SURFACE_BAD("clamp_min", clamp_min(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("clamp_max", clamp_max(zeros_of({2, 2}), zeros_of({3})), "[2, 2]", "[3]"),
        SURFACE_BAD("frac", frac(zeros_of({2}).to(int16)), "floats", "int16"),
    });

const surface::Family kElementwise(
    "elementwise",
    {
        unary("exp", exp, "torch.exp(x)"),
        unary("exp2", exp2, "torch.exp2(x)"),
        unary("expm1", expm1, "torch.expm1(x)"),
        within(unary("log", log, "torch.log(x)"), 0.2, 3),
        within(unary("log2", log2, "torch.log2(x)"), 0.2, 3),
        within(unary("log1p", log1p, "torch.log1p(x)"), -0.8, 3),
        within(unary("sqrt", sqrt, "torch.sqrt(x)"), 0.2, 3),
        within(unary("rsqrt", rsqrt, "torch.rsqrt(x)"), 0.2, 3),
        within(unary("sin", sin, "torch.sin(x)"), -4, 4),
        within(unary("cos", cos, "torch.cos(x)"), -4, 4),
        unary("tan", tan, "torch.tan(x)"),
        unary("tanh", tanh, "torch.tanh(x)"),
        unary("erf", erf, "torch.erf(x)"),
        within(unary("reciprocal", reciprocal, "torch.reciprocal(x)"), 0.3, 2),
        unary("abs", abs, "torch.abs(x)"),
        kSign,
        unary("square", square, "torch.square(x)"),
        without_gradients(within(unary("floor", floor, "torch.floor(x)"), -3, 3)),
        without_gradients(within(unary("ceil", ceil, "torch.ceil(x)"), -3, 3)),
        without_gradients(within(unary("round", round, "torch.round(x)"), -3, 3)),
        without_gradients(within(unary("trunc", trunc, "torch.trunc(x)"), -3, 3)),
        differentiable_once(binary("maximum", maximum, "torch.maximum(x, y)")),
        differentiable_once(binary("minimum", minimum, "torch.minimum(x, y)")),
        without_gradients(binary("logical_and", logical_and, "torch.logical_and(x, y)")),
        without_gradients(binary("logical_or", logical_or, "torch.logical_or(x, y)")),
        without_gradients(binary("logical_xor", logical_xor, "torch.logical_xor(x, y)")),
        without_gradients(unary("logical_not", logical_not, "torch.logical_not(x)")),
        without_gradients(unary("isnan", isnan, "torch.isnan(x)")),
        without_gradients(unary("isinf", isinf, "torch.isinf(x)")),
        without_gradients(unary("isfinite", isfinite, "torch.isfinite(x)")),
    },
    {
        SURFACE_BAD("maximum", maximum(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("minimum", minimum(zeros_of({2, 3}), zeros_of({4, 3})), "[2, 3]", "[4, 3]"),
        SURFACE_BAD("logical_and", logical_and(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("logical_or", logical_or(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("logical_xor", logical_xor(zeros_of({2}), zeros_of({3})), "[2]", "[3]"),
        SURFACE_BAD("maximum", maximum(zeros_of({5}), zeros_of({5, 4})), "[5]", "[5, 4]"),
        SURFACE_BAD("minimum", minimum(zeros_of({7}), zeros_of({6})), "[7]", "[6]"),
        SURFACE_BAD("logical_and", logical_and(zeros_of({2, 2}), zeros_of({3})), "[2, 2]", "[3]"),
        SURFACE_BAD("logical_or", logical_or(zeros_of({2, 2}), zeros_of({3})), "[2, 2]", "[3]"),
        SURFACE_BAD("logical_xor", logical_xor(zeros_of({2, 2}), zeros_of({3})), "[2, 2]", "[3]"),
    });

}  // namespace
