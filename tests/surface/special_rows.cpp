// Functions of floats: inverse and hyperbolic ones, those of erf, and those of several ops.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::binary;
using surface::Row;
using surface::Tensors;
using surface::unary;
using surface::within;

Tensor lengths(Shape shape) { return ones(shape); }

const surface::Family kSpecial(
    "special",
    {
        within(unary("log10", log10, "torch.log10(x)"), 0.2, 3),
        within(unary("asin", asin, "torch.asin(x)"), -0.9, 0.9),
        within(unary("acos", acos, "torch.acos(x)"), -0.9, 0.9),
        within(unary("atan", atan, "torch.atan(x)"), -3, 3),
        within(unary("sinh", sinh, "torch.sinh(x)"), -3, 3),
        within(unary("cosh", cosh, "torch.cosh(x)"), -3, 3),
        within(unary("asinh", asinh, "torch.asinh(x)"), -3, 3),
        within(unary("acosh", acosh, "torch.acosh(x)"), 1.2, 3),
        within(unary("atanh", atanh, "torch.atanh(x)"), -0.9, 0.9),
        within(unary("erfc", erfc, "torch.erfc(x)"), -2, 3),
        within(unary("erfinv", erfinv, "torch.erfinv(x)"), -0.9, 0.9),
        within(unary("sinc", sinc, "torch.sinc(x)"), 0.1, 2),
        within(unary("deg2rad", deg2rad, "torch.deg2rad(x)"), -180, 180),
        within(unary("rad2deg", rad2deg, "torch.rad2deg(x)"), -3, 3),
        within(unary(
                   "logit", [](Arg x) { return logit(x); }, "torch.logit(x)"),
               0.05, 0.95),
        within(unary(
                   "logit, clamped", [](Arg x) { return logit(x, 0.2); }, "torch.logit(x, 0.2)"),
               0.05, 0.95),
        within(binary("atan2", atan2, "torch.atan2(x, y)"), -2, 2),
        binary("hypot", hypot, "torch.hypot(x, y)"),
        within(binary("logaddexp", logaddexp, "torch.logaddexp(x, y)"), -3, 3),
        within(binary("logaddexp2", logaddexp2, "torch.logaddexp2(x, y)"), -3, 3),
        within(binary("xlogy", xlogy, "torch.xlogy(x, y)"), 0.2, 2),
        binary("copysign", copysign, "torch.copysign(x, y)"),
        within(binary("ldexp", ldexp, "torch.ldexp(x, y)"), -2, 2),
        Row{"lerp",
            [](const Tensors& x) { return lerp(x[0], x[1], x[2]); },
            "torch.lerp(x, y, z)",
            {{{2, 3}, {2, 3}, {2, 3}}, {{3, 1}, {2}, {1, 1}}}},
        within(Row{"addcdiv",
                   [](const Tensors& x) { return addcdiv(x[0], x[1], x[2], 0.5); },
                   "torch.addcdiv(x, y, z, value=0.5)",
                   {{{2, 3}, {2, 3}, {2, 3}}, {{3, 1}, {2}, {1}}}},
               0.3, 2),
        // At the edges of their domains.
        Row{"asin and acos at their edges",
            [](const Tensors& x) {
              const Tensor edge = x[0] / abs(x[0]);
              return Tensors{asin(edge), acos(edge), atanh(edge), acosh(abs(edge)), erfinv(edge)};
            },
            "[f(x / abs(x)) for f in (torch.asin, torch.acos, torch.atanh, lambda e: torch.acosh(abs(e)), "
            "torch.erfinv)]",
            {{{4}}},
            surface::Types::All,
            surface::Gradients::None},
    },
    {
        SURFACE_BAD("atan2", atan2(lengths({2}), lengths({3})), "[2]", "[3]"),
        SURFACE_BAD("hypot", hypot(lengths({2}), lengths({3})), "[2]", "[3]"),
        SURFACE_BAD("logaddexp", logaddexp(lengths({2, 1}), lengths({3, 3})), "[2, 1]", "[3, 3]"),
        SURFACE_BAD("logaddexp2", logaddexp2(lengths({2}), lengths({3})), "[2]", "[3]"),
        SURFACE_BAD("xlogy", xlogy(lengths({5}), lengths({3})), "[5]", "[3]"),
        SURFACE_BAD("copysign", copysign(lengths({2}), lengths({4})), "[2]", "[4]"),
        SURFACE_BAD("ldexp", ldexp(lengths({2}), lengths({3})), "[2]", "[3]"),
        SURFACE_BAD("lerp", lerp(lengths({2}), lengths({2}), lengths({7})), "[2]", "[7]"),
        SURFACE_BAD("addcdiv", addcdiv(lengths({2}), lengths({3}), 1.0), "[2]", "[3]"),
    });

}  // namespace
