// Picking elements by integer tensors and masks, and writing to them.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/indexing.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::indices;
using surface::mask;
using surface::of_types;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::without_gradients;

using Cases = std::vector<std::vector<surface::Input>>;

/// Two tensors of numbers with an index between them; along axis 0 no two updates of one element.
const Cases kScattered = {{{5, 4}, indices({3, 4}, 5), {3, 4}}, {{5, 4}, indices({3, 2}, 5), {3, 2}}};
/// The same with several updates of one element.
const Cases kJoined = {
    {{5, 4}, indices({3, 4}, 5), {3, 4}}, {{3, 2}, indices({7, 2}, 3), {7, 2}}, {{4, 3}, indices({2, 1}, 4), {2, 1}}};
/// Slices of axis 1.
const Cases kSlices = {{{2, 5}, indices({3}, 5), {2, 3}}, {{2, 3, 2}, indices({1}, 3), {2, 1, 2}}};

Tensor reduced(const Tensors& x, ScatterReduce reduce, bool include_self) {
  return scatter_reduce(x[0], 0, x[1], x[2], reduce, include_self);
}
Row reduction(const char* name, ScatterReduce reduce, const char* torch, bool include_self = true) {
  return {name, [=](const Tensors& x) { return reduced(x, reduce, include_self); }, torch, kJoined};
}

Tensor floats(Shape shape) { return zeros(shape); }
Tensor places(Shape shape) { return zeros(shape, int64); }
Tensor flags(Shape shape) { return zeros(shape, boolean); }

const surface::Family kIndexing(
    "indexing",
    {
        {"gather",
         [](const Tensors& x) { return gather(x[0], 0, x[1]); },
         "torch.gather(x, 0, y)",
         {{{5, 4}, indices({3, 4}, 5)}, {{5, 4}, indices({6, 3}, 5)}}},
        {"take_along_dim",
         [](const Tensors& x) { return take_along_dim(x[0], x[1], 0); },
         "torch.take_along_dim(x, y, 0)",
         {{{5, 4}, indices({3, 4}, 5)}, {{5, 1}, indices({2, 3}, 5)}, {{5, 3}, indices({2, 1}, 5)}}},
        {"index_select",
         [](const Tensors& x) { return index_select(x[0], 1, x[1]); },
         "torch.index_select(x, 1, y)",
         {{{2, 5}, indices({7}, 5)}, {{2, 3, 2}, indices({1}, 3)}}},
        {"take",
         [](const Tensors& x) { return take(x[0], x[1]); },
         "torch.take(x, y)",
         {{{2, 5}, indices({3, 2}, 10)}, {{3}, indices({}, 3)}}},
        {"embedding",
         [](const Tensors& x) { return embedding(x[1], x[0]); },
         "F.embedding(y, x)",
         {{{5, 3}, indices({2, 2}, 5)}}},
        {"embedding_bag",
         [](const Tensors& x) {
           return Tensors{embedding_bag(x[1], x[0]),
                          embedding_bag(x[1].flatten(), x[0], from({0, 3, 3}), {.mode = BagMode::Sum})};
         },
         "F.embedding_bag(y, x), F.embedding_bag(y.flatten(), x, torch.tensor([0, 3, 3]), mode='sum')",
         {{{5, 3}, indices({2, 2}, 5)}}},
        without_gradients(
            {"one_hot", [](const Tensors& x) { return one_hot(x[0], 4); }, "F.one_hot(x, 4)", {{indices({2, 3}, 4)}}}),
        {"scatter", [](const Tensors& x) { return scatter(x[0], 0, x[1], x[2]); }, "torch.scatter(x, 0, y, z)",
         kScattered},
        {"scatter_add", [](const Tensors& x) { return scatter_add(x[0], 0, x[1], x[2]); },
         "torch.scatter_add(x, 0, y, z)", kJoined},
        reduction("scatter_reduce", ScatterReduce::Sum, "torch.scatter_reduce(x, 0, y, z, 'sum')"),
        reduction("scatter_reduce: prod", ScatterReduce::Prod, "torch.scatter_reduce(x, 0, y, z, 'prod')"),
        of_types(reduction("scatter_reduce: mean", ScatterReduce::Mean, "torch.scatter_reduce(x, 0, y, z, 'mean')"),
                 Types::Numbers),
        reduction("scatter_reduce: amax", ScatterReduce::Amax, "torch.scatter_reduce(x, 0, y, z, 'amax')"),
        reduction("scatter_reduce: amin", ScatterReduce::Amin, "torch.scatter_reduce(x, 0, y, z, 'amin')"),
        reduction("scatter_reduce: prod of updates", ScatterReduce::Prod,
                  "torch.scatter_reduce(x, 0, y, z, 'prod', include_self=False)", false),
        of_types(reduction("scatter_reduce: mean of updates", ScatterReduce::Mean,
                           "torch.scatter_reduce(x, 0, y, z, 'mean', include_self=False)", false),
                 Types::Numbers),
        reduction("scatter_reduce: amax of updates", ScatterReduce::Amax,
                  "torch.scatter_reduce(x, 0, y, z, 'amax', include_self=False)", false),
        {"put_along_axis",
         [](const Tensors& x) { return put_along_axis(x[0], x[1], x[2], 0); },
         "torch.scatter(x, 0, y.expand(-1, 4), z.expand(y.shape[0], 4))",
         {{{5, 4}, indices({3, 4}, 5), {3, 4}}, {{5, 4}, indices({1, 1}, 5), {4}}}},
        {"index_add",
         [](const Tensors& x) { return index_add(x[0], 1, x[1], x[2], 2); },
         "torch.index_add(x, 1, y, z, alpha=2)",
         {{{2, 5}, indices({3}, 5), {2, 3}}, {{2, 3}, indices({7}, 3), {2, 7}}}},
        {"index_reduce",
         [](const Tensors& x) {
           return Tensors{index_reduce(x[0], 1, x[1], x[2], "prod"), index_reduce(x[0], 1, x[1], x[2], "amax", false)};
         },
         "torch.index_reduce(x, 1, y, z, 'prod'), torch.index_reduce(x, 1, y, z, 'amax', include_self=False)",
         {{{2, 5}, indices({3}, 5), {2, 3}}, {{2, 3}, indices({7}, 3), {2, 7}}}},
        of_types({"index_reduce: mean",
                  [](const Tensors& x) { return index_reduce(x[0], 1, x[1], x[2], ScatterReduce::Mean); },
                  "torch.index_reduce(x, 1, y, z, 'mean')",
                  {{{2, 5}, indices({3}, 5), {2, 3}}}},
                 Types::Numbers),
        {"put",
         [](const Tensors& x) { return put(x[0], x[1], x[2]); },
         "torch.Tensor.put(x, y, z)",
         {{{5, 4}, indices({3}, 20), {3}}, {{5, 4}, indices({2, 2}, 20), {2, 2}}}},
        {"put: accumulate",
         [](const Tensors& x) { return put(x[0], x[1], x[2], true); },
         "torch.Tensor.put(x, y, z, accumulate=True)",
         {{{2, 2}, indices({7}, 4), {7}}, {{5}, indices({2, 3}, 5), {6}}}},
        {"index_copy", [](const Tensors& x) { return index_copy(x[0], 1, x[1], x[2]); }, "torch.index_copy(x, 1, y, z)",
         kSlices},
        {"index_fill",
         [](const Tensors& x) { return index_fill(x[0], 1, x[1], 2); },
         "torch.index_fill(x, 1, y, 2)",
         {{{2, 5}, indices({3}, 5)}, {{2, 3, 2}, indices({7}, 3)}}},
        {"index_put",
         [](const Tensors& x) { return index_put(x[0], {x[1], x[2]}, x[3]); },
         "torch.index_put(x, (y, z), u)",
         {{{5, 4}, indices({3}, 5), indices({3}, 4), {3}}, {{3, 2, 2}, indices({2, 1}, 3), indices({2}, 2), {2}}}},
        {"index_put: accumulate",
         [](const Tensors& x) { return index_put(x[0], {x[1]}, x[2], true); },
         "torch.index_put(x, (y,), z, accumulate=True)",
         {{{5, 4}, indices({7}, 5), {7, 4}}, {{5, 4}, mask({5, 4}), {1}}}},
        {"Tensor::index_put_",
         [](const Tensors& x) {
           Tensor y = x[0].clone();
           y.index_put_({Slice{}, x[1]}, x[2], true);
           return y;
         },
         "torch.index_put(x, (torch.arange(x.shape[0])[:, None], y), z, accumulate=True)", kSlices},
        {"Tensor::at",
         [](const Tensors& x) {
           Tensor y = x[0].clone();
           y.at({Slice{}, x[1]}) = x[2];
           return y;
         },
         "torch.index_put(x, (torch.arange(x.shape[0])[:, None], y), z)", kSlices},
        {"Tensor::at: mask",
         [](const Tensors& x) {
           Tensor y = x[0].clone();
           y.at({x[1]}) = x[2];
           return y;
         },
         "torch.index_put(x, (y,), z)",
         {{{5, 4}, mask({5}), {4}}, {{5, 4}, mask({5, 4}), {}}, {{5, 4}, mask({5}), {2, 4}}}},
        {"Tensor::index: mask",
         [](const Tensors& x) { return x[0].index({x[1]}); },
         "x[y]",
         {{{5, 4}, mask({5})}, {{5, 4, 2}, mask({5, 4})}}},
        {"masked_select",
         [](const Tensors& x) { return masked_select(x[0], x[1]); },
         "torch.masked_select(x, y)",
         {{{5, 4}, mask({5, 4})}, {{5, 1}, mask({4})}}},
        {"masked_scatter",
         [](const Tensors& x) { return masked_scatter(x[0], x[1], x[2]); },
         "torch.masked_scatter(x, y, z)",
         {{{5, 4}, mask({5, 4}), {3, 3}}, {{5, 4}, mask({4}), {15}}}},
        without_gradients({"nonzero",
                           [](const Tensors& x) { return nonzero(x[0]); },
                           "torch.nonzero(x)",
                           {{mask({5, 4})}, {mask({7})}}}),
        without_gradients({"argwhere",
                           [](const Tensors& x) { return argwhere(x[0]); },
                           "torch.argwhere(x)",
                           {{{2, 3}}, {mask({2, 3, 2})}}}),
    },
    {
        SURFACE_BAD("gather", gather(floats({4, 2}), 0, places({2, 3})), "[2, 3]", "[4, 2]"),
        SURFACE_BAD("take_along_dim", take_along_dim(floats({4, 2}), places({2, 3}), 0), "[1, 2]", "[1, 3]"),
        SURFACE_BAD("take", take(floats({4}), floats({2})), "float32", "to(int64)"),
        SURFACE_BAD("scatter", scatter(floats({4, 2}), 0, places({2, 3}), 1.0), "[2, 3]", "[4, 2]"),
        SURFACE_BAD("scatter", scatter(floats({4}), 0, places({2}), floats({3})), "[3]", "[2]"),
        SURFACE_BAD("scatter_reduce", scatter_reduce(flags({4}), 0, places({2}), flags({2}), ScatterReduce::Mean),
                    "bool", "mean"),
        SURFACE_BAD("put_along_axis", put_along_axis(floats({4, 2}), places({2, 3}), 1.0, 0), "[2, 3]", "[4, 2]"),
        SURFACE_BAD("index_add", index_add(floats({4, 2}), 0, places({3}), floats({2, 2})), "[2, 2]", "[3, 2]"),
        SURFACE_BAD("index_reduce", index_reduce(floats({4, 2}), 0, places({3}), floats({2, 2}), "amax"), "[2, 2]",
                    "[3, 2]"),
        SURFACE_BAD("put", put(floats({4, 2}), places({3}), floats({2})), "[2]", "[3]"),
        SURFACE_BAD("index_copy", index_copy(floats({4}), 0, places({3, 1}), 1.0), "[3, 1]", "2 axes"),
        SURFACE_BAD("index_fill", index_fill(floats({4}), 0, places({3}), floats({3})), "[3]", "[4]"),
        SURFACE_BAD("embedding_bag", embedding_bag(places({2, 2}), floats({4, 3}), {}, {.padding_idx = 4}), "is 4",
                    "4 rows"),
        SURFACE_BAD("index_put", index_put(floats({4, 2}), {places({3})}, floats({2, 2})), "[2, 2]", "[3, 2]"),
        SURFACE_BAD("index", floats({4, 2}).index({flags({3})}), "[3]", "[4, 2]"),
        SURFACE_BAD("masked_select", masked_select(floats({4}), places({4})), "int64", "float32 [4]"),
        SURFACE_BAD("masked_scatter", masked_scatter(floats({4}), flags({3}), 1.0), "[3]", "[4]"),
    });

}  // namespace
