// Activations.
#include "sinter/activations.h"

#include "sinter/create.h"
#include "sinter/normalization.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Call;
using surface::of_types;
using surface::Row;
using surface::Tensors;
using surface::Types;

/// The row of an elementwise function with its options, which may be a list of calls.
Row activation(std::string name, Call call, std::string torch, std::vector<double> kinks = {}) {
  Row row{std::move(name), std::move(call), std::move(torch), {{{2, 3}}}};
  row.elementwise = true;
  row.low = -4, row.high = 4;
  row.kinks = std::move(kinks);
  return row;
}
Row activation(std::string name, Tensor (*f)(Arg), std::string torch, std::vector<double> kinks = {}) {
  return activation(std::move(name), Call([f](const Tensors& x) { return f(x[0]); }), std::move(torch),
                    std::move(kinks));
}
Row but(Row row, std::string because) {
  row.because = std::move(because);
  return row;
}

Tensor ones_of(Shape shape) { return ones(shape); }

const surface::Family kActivations(
    "activations",
    {
        of_types(activation("relu", relu, "F.relu(x)", {0, 1}), Types::Numbers),
        activation("sigmoid", sigmoid, "torch.sigmoid(x)"),
        activation("silu", silu, "F.silu(x)", {0}),
        but(activation(
                "gelu", [](const Tensors& x) -> Tensors { return {gelu(x[0]), gelu(x[0], Gelu::Tanh)}; },
                "(F.gelu(x), F.gelu(x, approximate='tanh'))"),
            "gelu(inf) is inf; PyTorch's vector code gives NaN"),
        activation("leaky_relu", [](const Tensors& x) -> Tensors { return {leaky_relu(x[0]), leaky_relu(x[0], 0.3)}; },
                   "(F.leaky_relu(x), F.leaky_relu(x, 0.3))", {0, -1, 1}),
        {"prelu",
         [](const Tensors& x) { return prelu(x[0], x[1]); },
         "F.prelu(x, y)",
         {{{2, 3}, {3}}, {{2, 3, 2}, {1}}, {{4}, {1}}, {{2, 3, 1, 2}, {3}}, {{0, 3}, {3}}}},
        activation("rrelu", [](const Tensors& x) -> Tensors { return {rrelu(x[0]), rrelu(x[0], 0.1, 0.3)}; },
                   "(F.rrelu(x), F.rrelu(x, 0.1, 0.3))", {0, -1, 1}),
        activation("elu", [](const Tensors& x) -> Tensors { return {elu(x[0]), elu(x[0], 0.7)}; },
                   "(F.elu(x), F.elu(x, 0.7))", {0, -1, 200}),
        activation("selu", selu, "F.selu(x)", {0, -1, 200}),
        activation("celu", [](const Tensors& x) -> Tensors { return {celu(x[0]), celu(x[0], 0.7)}; },
                   "(F.celu(x), F.celu(x, 0.7))", {0, -1, 200}),
        of_types(activation("relu6", relu6, "F.relu6(x)", {0, 6, 1}), Types::Numbers),
        of_types(activation("hardtanh",
                            [](const Tensors& x) -> Tensors { return {hardtanh(x[0]), hardtanh(x[0], -2, 1)}; },
                            "(F.hardtanh(x), F.hardtanh(x, -2, 1))", {-1, 1, -2, 0}),
                 Types::Numbers),
        of_types(activation("threshold", [](const Tensors& x) { return threshold(x[0], 1, 7); }, "F.threshold(x, 1, 7)",
                            {1, 2}),
                 Types::Numbers),
        activation("softplus", [](const Tensors& x) -> Tensors { return {softplus(x[0]), softplus(x[0], 2, 3)}; },
                   "(F.softplus(x), F.softplus(x, 2, 3))", {0, 20, 21, 1.5, 200, -200}),
        activation("softsign", softsign, "F.softsign(x)", {0}),
        activation("mish", mish, "F.mish(x)", {0, 50, -50}),
        activation("logsigmoid", logsigmoid, "F.logsigmoid(x)", {0, 200, -200}),
        activation("tanhshrink", tanhshrink, "F.tanhshrink(x)"),
        activation("hardsigmoid", hardsigmoid, "F.hardsigmoid(x)", {-3, 3, 0}),
        activation("hardswish", hardswish, "F.hardswish(x)", {-3, 3, 0, 4, -4}),
        activation("hardshrink", [](const Tensors& x) -> Tensors { return {hardshrink(x[0]), hardshrink(x[0], 1.5)}; },
                   "(F.hardshrink(x), F.hardshrink(x, 1.5))", {0.5, -0.5, 1}),
        activation("softshrink", [](const Tensors& x) -> Tensors { return {softshrink(x[0]), softshrink(x[0], 1.5)}; },
                   "(F.softshrink(x), F.softshrink(x, 1.5))", {0.5, -0.5, 1}),
        {"glu",
         [](const Tensors& x) -> Tensors { return {glu(x[0]), glu(x[0], 0)}; },
         "(F.glu(x), F.glu(x, 0))",
         {{{2, 4}}, {{4, 3, 6}}, {{2, 2}}, {{0, 2}}}},
        {"softmin",
         [](const Tensors& x) -> Tensors { return {softmin(x[0]), softmin(x[0], 0)}; },
         "(F.softmin(x, -1), F.softmin(x, 0))",
         {{{2, 4}}, {{2, 2, 3}}, {{1, 1}}, {{0, 2}}}},
        but({"gumbel_softmax",
             [](const Tensors& x) -> Tensors {
               Generator g(3);
               return {gumbel_softmax(x[0], 0.5, false, -1, &g), gumbel_softmax(x[0], 2, false, 0, &g)};
             },
             "",
             {{{2, 4}}, {{1, 1}}}},
            "random: tests/unit/tensor/ops/dropout_test.cpp"),
    },
    {
        SURFACE_BAD("relu", relu(ones_of({2}).to(boolean)), "numbers", "bool"),
        SURFACE_BAD("hardtanh", hardtanh(ones_of({2}), 3, 2), "3", "2"),
        SURFACE_BAD("hardtanh", hardtanh(ones_of({2}).to(int32), -0.5, 2), "-0.5", "int32"),
        SURFACE_BAD("threshold", threshold(ones_of({2}).to(uint8), 1, 300), "300", "uint8"),
        SURFACE_BAD("prelu", prelu(ones_of({2, 3}), ones_of({4})), "[4]", "[3]"),
        SURFACE_BAD("prelu", prelu(ones_of({3}), ones_of({3})), "channels", "[3]"),
        SURFACE_BAD("rrelu", rrelu(ones_of({2}), 0.5, 0.25), "0.5", "0.25"),
        SURFACE_BAD("celu", celu(ones_of({2}), 0), "alpha", "0"),
        SURFACE_BAD("softplus", softplus(ones_of({2}), 0), "beta", "0"),
        SURFACE_BAD("softshrink", softshrink(ones_of({2}), -1), "-1", "0"),
        SURFACE_BAD("glu", glu(ones_of({2, 3})), "[2, 3]", "size 3"),
        SURFACE_BAD("gumbel_softmax", gumbel_softmax(ones_of({2}), -1), "-1", "0"),
    });

}  // namespace
