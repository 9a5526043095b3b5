// Softmax and norms.
#include "sinter/normalization.h"

#include "sinter/create.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Tensors;

Tensor ones_of(Shape shape) { return ones(shape); }

const surface::Family kNormalization(
    "normalization",
    {
        {"softmax",
         [](const Tensors& x) -> Tensors { return {softmax(x[0]), softmax(x[0], 0)}; },
         "(F.softmax(x, -1), F.softmax(x, 0))",
         {{{2, 3}}, {{5}}, {{1, 1}}, {{0, 2}}, {{2, 0}}, {{2, 1, 1, 3, 1, 2, 1, 1}}}},
        {"log_softmax",
         [](const Tensors& x) -> Tensors { return {log_softmax(x[0]), log_softmax(x[0], 0)}; },
         "(F.log_softmax(x, -1), F.log_softmax(x, 0))",
         {{{2, 3}}, {{5}}, {{1, 1}}, {{0, 2}}, {{2, 0}}, {{2, 1, 1, 3, 1, 2, 1, 1}}}},
        {"logsumexp",
         [](const Tensors& x) -> Tensors { return {logsumexp(x[0]), logsumexp(x[0], -1), logsumexp(x[0], 0, true)}; },
         "(torch.logsumexp(x, list(range(x.dim()))), torch.logsumexp(x, -1), torch.logsumexp(x, 0, True))",
         {{{2, 3}}, {{5}}, {{1, 1}}, {{2, 3, 2}}}},
        {"layer_norm",
         [](const Tensors& x) -> Tensors {
           return {layer_norm(x[0], x[1].shape(), x[1], x[2]), layer_norm(x[0], x[1].shape(), {}, {}, 0.1)};
         },
         "(F.layer_norm(x, y.shape, y, z), F.layer_norm(x, y.shape, eps=0.1))",
         {{{2, 3}, {3}, {3}}, {{5}, {5}, {5}}, {{2, 3, 2}, {3, 2}, {3, 2}}, {{0, 3}, {3}, {3}}}},
        {"rms_norm",
         [](const Tensors& x) -> Tensors {
           return {rms_norm(x[0], x[1].shape(), x[1]), rms_norm(x[0], x[1].shape(), {}, 0.1)};
         },
         "(F.rms_norm(x, y.shape, y), F.rms_norm(x, y.shape, eps=0.1))",
         {{{2, 3}, {3}}, {{5}, {5}}, {{2, 3, 2}, {3, 2}}, {{0, 3}, {3}}}},
        {"group_norm",
         [](const Tensors& x) -> Tensors {
           return {group_norm(x[0], 2, x[1], x[2]), group_norm(x[0], 1, {}, {}, 0.1)};
         },
         "(F.group_norm(x, 2, y, z), F.group_norm(x, 1, eps=0.1))",
         {{{2, 4, 3}, {4}, {4}}, {{1, 4, 2, 2}, {4}, {4}}}},
        {"batch_norm",
         [](const Tensors& x) -> Tensors {
           return {batch_norm(x[0], {}, {}, x[1], x[2]),
                   batch_norm(x[0], from({0.1, -0.2, 0.3}), from({1.0, 0.5, 2.0}), x[1], x[2], 0.1)};
         },
         "(F.batch_norm(x, None, None, y, z, True),"
         " F.batch_norm(x, torch.tensor([0.1, -0.2, 0.3]), torch.tensor([1.0, 0.5, 2.0]), y, z, False, eps=0.1))",
         {{{4, 3}, {3}, {3}}, {{2, 3, 2}, {3}, {3}}, {{2, 3, 1, 2}, {3}, {3}}}},
    },
    {
        SURFACE_BAD("softmax", softmax(ones_of({2, 3}), 2), "2", "[2, 3]"),
        SURFACE_BAD("layer_norm", layer_norm(ones_of({2, 3}), {2}), "[2]", "[2, 3]"),
        SURFACE_BAD("layer_norm", layer_norm(ones_of({2, 3}), {3}, ones_of({2})), "[2]", "[3]"),
        SURFACE_BAD("group_norm", group_norm(ones_of({2, 3}), 2), "3", "2"),
        SURFACE_BAD("batch_norm", batch_norm(ones_of({2, 3}), ones_of({4}), ones_of({3})), "[4]", "[3]"),
    });

}  // namespace
