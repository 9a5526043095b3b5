// Elements in other places.
#include "sinter/create.h"
#include "sinter/movement.h"
#include "sinter/padding.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Gradients;
using surface::Row;
using surface::Tensors;
using surface::Types;

Tensor places(Shape shape) { return zeros(shape); }

/// `padded` on tensors whose last axes PyTorch pads in that mode.
Tensors padded(const Tensors& x, PadMode mode) {
  return {pad(x[0], {{1, 2}}, mode), pad(x[1], {{1, 1}, {0, 2}}, mode)};
}

// clang-format off
const surface::Family kRearranging("rearranging", {
    {"flip", [](const Tensors& x) { return Tensors{flip(x[0]), flip(x[0], 1), x[0].flip({0, -1})}; },
     "x.flip(tuple(range(x.dim()))), torch.flip(x, (1,)), x.flip((0, -1))", {{{2, 3}}, {{0, 2}}}},
    {"fliplr", [](const Tensors& x) { return fliplr(x[0]); }, "torch.fliplr(x)", {{{2, 3}}}},
    {"flipud", [](const Tensors& x) { return flipud(x[0]); }, "torch.flipud(x)", {{{2, 3}}, {{3}}}},
    {"roll", [](const Tensors& x) { return Tensors{roll(x[0], 1), roll(x[0], -4, 1), roll(x[0], {2, 1}, {0, -1}), roll(x[0], std::vector<int64_t>{5}), roll(x[0], {1, 1}, {1, 1})}; },
     "torch.roll(x, 1), torch.roll(x, -4, 1), torch.roll(x, (2, 1), (0, -1)), torch.roll(x, (5,)), torch.roll(x, (1, 1), (1, 1))",
     {{{3, 5}}, {{1, 1}}, {{0, 2}}}},
    {"rot90", [](const Tensors& x) { return Tensors{rot90(x[0]), rot90(x[0], 2), rot90(x[0], -1, {1, 2}), rot90(x[0], 4), rot90(x[0], 1, {2, 0})}; },
     "torch.rot90(x), torch.rot90(x, 2), torch.rot90(x, -1, (1, 2)), torch.rot90(x, 4), torch.rot90(x, 1, (2, 0))", {{{2, 3, 4}}}},
    {"repeat", [](const Tensors& x) { return Tensors{repeat(x[0], {2, 3}), repeat(x[0], {2, 1, 2}), repeat(x[0], {0, 1})}; },
     "x.repeat(2, 3), x.repeat(2, 1, 2), x.repeat(0, 1)", {{{2, 3}}, {{1, 1}}, {Shape{}}, {{0, 3}}}},
    {"tile", [](const Tensors& x) { return Tensors{tile(x[0], {2}), tile(x[0], {2, 1, 3}), tile(x[0], {})}; },
     "torch.tile(x, (2,)), torch.tile(x, (2, 1, 3)), torch.tile(x, ())", {{{2, 3}}, {Shape{}}}},
    {"repeat_interleave",
     [](const Tensors& x) { return Tensors{repeat_interleave(x[0], 3), repeat_interleave(x[0], 2, 1), repeat_interleave(x[0], x[1], 0), repeat_interleave(x[0], x[1], 0, 3), repeat_interleave(x[0], x[2]), repeat_interleave(x[0], 0, 0)}; },
     "torch.repeat_interleave(x, 3), torch.repeat_interleave(x, 2, 1), torch.repeat_interleave(x, y, 0), torch.repeat_interleave(x, y, 0, output_size=3), torch.repeat_interleave(x, z), torch.repeat_interleave(x, 0, 0)",
     {{{4, 2}, surface::indices({4}, 3), surface::indices({1}, 4)}}},
    {"diagonal", [](const Tensors& x) { return Tensors{diagonal(x[0]), diagonal(x[0], 1), diagonal(x[0], -1, 1, 2), diagonal(x[0], 0, 2, 0), diagonal(x[0], 4), diagonal(x[0], -99)}; },
     "torch.diagonal(x), torch.diagonal(x, 1), torch.diagonal(x, -1, 1, 2), torch.diagonal(x, 0, 2, 0), torch.diagonal(x, 4, 0, 1), torch.zeros(x.shape[2:] + (0,))",
     {{{3, 4, 2}}, {{2, 2, 5}}, {{1, 1, 1}}}},
    {"diag", [](const Tensors& x) { return Tensors{diag(x[0]), diag(x[0], 2), diag(x[0], -1), diag(x[1]), diag(x[1], 1)}; },
     "torch.diag(x), torch.diag(x, 2), torch.diag(x, -1), torch.diag(y), torch.diag(y, 1)", {{{3}, {3, 5}}, {{0}, {2, 1}}, {{1}, {5, 5}}}},
    {"diag_embed", [](const Tensors& x) { return Tensors{diag_embed(x[0]), diag_embed(x[0], 1, 0, 2), diag_embed(x[0], -2, 1, 0)}; },
     "torch.diag_embed(x), torch.diag_embed(x, 1, 0, 2), torch.diag_embed(x, -2, 1, 0)", {{{2, 3}}, {{0, 2}}, {{3, 1}}}},
    {"trace", [](const Tensors& x) { return trace(x[0]); }, "torch.trace(x)", {{{3, 4}}, {{5, 2}}, {{0, 3}}}},
    {"triu", [](const Tensors& x) { return Tensors{triu(x[0]), triu(x[0], 1), triu(x[0], -7)}; }, "torch.triu(x), torch.triu(x, 1), torch.triu(x, -7)",
     {{{3, 4}}, {{2, 5, 3}}, {{0, 3}}}},
    {"tril", [](const Tensors& x) { return Tensors{tril(x[0]), tril(x[0], -1), tril(x[0], 9)}; }, "torch.tril(x), torch.tril(x, -1), torch.tril(x, 9)",
     {{{3, 4}}, {{2, 5, 3}}, {{0, 3}}}},
    {"triu_indices", [](const Tensors&) { return Tensors{triu_indices(3, 4), triu_indices(3, 2, -1), triu_indices(2, 3, 5)}; },
     "torch.triu_indices(3, 4), torch.triu_indices(3, 2, -1), torch.triu_indices(2, 3, 5)", {{}}, Types::All, Gradients::None},
    {"tril_indices", [](const Tensors&) { return Tensors{tril_indices(3, 4), tril_indices(3, 2, -1), tril_indices(2, 3, 5)}; },
     "torch.tril_indices(3, 4), torch.tril_indices(3, 2, -1), torch.tril_indices(2, 3, 5)", {{}}, Types::All, Gradients::None},
    {"pad", [](const Tensors& x) { return Tensors{pad(x[0], {{2, 1}}), pad(x[0], {{0, 1}, {1, 0}}, PadMode::Constant, 1), x[0].pad({{1, 1}, {0, 2}})}; },
     "F.pad(x, (2, 1)), F.pad(x, (1, 0, 0, 1), value=1), F.pad(x, (0, 2, 1, 1))", {{{2, 3}}, {{0, 3}}}},
    {"pad: PadMode::Reflect", [](const Tensors& x) { return padded(x, PadMode::Reflect); }, "F.pad(x, (1, 2), 'reflect'), F.pad(y, (0, 2, 1, 1), 'reflect')",
     {{{2, 3}, {1, 2, 2, 3}}}},
    {"pad: PadMode::Replicate", [](const Tensors& x) { return padded(x, PadMode::Replicate); }, "F.pad(x, (1, 2), 'replicate'), F.pad(y, (0, 2, 1, 1), 'replicate')",
     {{{2, 3}, {1, 2, 1, 2}}, {{1, 1}, {1, 1, 1, 1}}}},
    {"pad: PadMode::Circular", [](const Tensors& x) { return padded(x, PadMode::Circular); }, "F.pad(x, (1, 2), 'circular'), F.pad(y, (0, 2, 1, 1), 'circular')",
     {{{2, 3}, {1, 2, 2, 3}}, {{2, 2}, {1, 1, 1, 2}}}},
    {"diff", [](const Tensors& x) { return Tensors{diff(x[0]), diff(x[0], 2, 0), diff(x[0], 0), diff(x[0], 9), diff(x[0], 1, 1, x[1], x[1])}; },
     "torch.diff(x), torch.diff(x, 2, 0), torch.diff(x, 0), torch.diff(x, 9), torch.diff(x, 1, 1, y, y)", {{{4, 3}, {4, 1}}}},
}, {
    SURFACE_BAD("fliplr", fliplr(places({3})), "1", "2"),
    SURFACE_BAD("flipud", flipud(places({})), "0", "1"),
    SURFACE_BAD("roll", roll(places({2, 3}), {1, 2}, {0}), "2", "1"),
    SURFACE_BAD("roll", roll(places({2, 3}), 1, 2), "2", "[2, 3]"),
    SURFACE_BAD("rot90", rot90(places({2, 3}), 1, {0, 0}), "0", "[2, 3]"),
    SURFACE_BAD("rot90", rot90(places({2, 3}), 1, {0}), "1", "2"),
    SURFACE_BAD("repeat", repeat(places({2, 3}), {2}), "1", "2"),
    SURFACE_BAD("tile", tile(places({2, 3}), {-1}), "-1", "[2, 3]"),
    SURFACE_BAD("repeat_interleave", repeat_interleave(places({2, 3}), -2, 0), "-2", "[2, 3]"),
    SURFACE_BAD("repeat_interleave", repeat_interleave(places({4}), ones({3}, int64)), "3", "4"),
    SURFACE_BAD("repeat_interleave", repeat_interleave(places({3}), ones({3})), "float32", "integers"),
    SURFACE_BAD("repeat_interleave", repeat_interleave(places({2}), from({1, -1})), "-1", "repeated"),
    SURFACE_BAD("diagonal", diagonal(places({3}), 0), "1", "[3]"),
    SURFACE_BAD("diagonal", diagonal(places({3, 4}), 0, 1, -1), "1", "-1"),
    SURFACE_BAD("diag", diag(places({2, 2, 2})), "3", "1 or 2"),
    SURFACE_BAD("diag_embed", diag_embed(places({2}), 0, 0, 2), "2", "[2]"),
    SURFACE_BAD("trace", trace(places({2})), "1", "2"),
    SURFACE_BAD("triu", triu(places({2})), "1", "2"),
    SURFACE_BAD("triu_indices", triu_indices(2, -1), "-1", "2"),
    SURFACE_BAD("tril_indices", tril_indices(-1, 2), "-1", "2"),
    SURFACE_BAD("pad", pad(places({3}), {{3, 0}}, PadMode::Reflect), "3", "2"),
    SURFACE_BAD("pad", pad(places({3}), {{0, 4}}, PadMode::Circular), "4", "3"),
    SURFACE_BAD("pad", pad(places({0}), {{0, 1}}, PadMode::Replicate), "1", "0"),
    SURFACE_BAD("pad", pad(places({3}), {{-1, 1}}, PadMode::Circular), "-1", "[3]"),
    SURFACE_BAD("diff", diff(places({3}), -1), "-1", "[3]"),
});
// clang-format on

}  // namespace
