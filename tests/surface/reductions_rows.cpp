// Reductions, as functions and as methods.
#include <limits>

#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/reductions.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::differentiable_once;
using surface::Gradients;
using surface::Row;
using surface::Tensors;
using surface::Types;

Tensor values(Shape shape) { return zeros(shape); }

Tensors both(const std::pair<Tensor, Tensor>& pair) { return {pair.first, pair.second}; }
Tensor with_nan(const Tensors& x) { return where(x[1], std::numeric_limits<double>::quiet_NaN(), x[0]); }

Tensors of_specials() {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Tensor s = from({{nan, 1.0, 2.0},
                         {1.0, inf, nan},
                         {inf, -inf, 0.0},
                         {-inf, 1.0, -inf},
                         {0.0, -0.0, 0.0},
                         {1e15, -1e15, 1e15},
                         {nan, nan, nan}});
  return {sum(s, 1),
          prod(s, 1),
          mean(s, 1),
          var(s, 1),
          sinter::std(s, 1, 0),
          max(s, 1),
          min(s, 1),
          max(s),
          min(s),
          argmax(s, 1),
          argmin(s, 1),
          any(s, 1),
          all(s, 1),
          count_nonzero(s, 1),
          nansum(s, 1),
          nanmean(s, 1)};
}

// clang-format off
const surface::Family kReductions("reductions", {
    {"sum: of special values", [](const Tensors&) { return of_specials(); }, "(lambda s: [f(s) for f in (lambda s: s.sum(1), lambda s: s.prod(1), lambda s: s.mean(1), lambda s: s.var(1), lambda s: s.std(1, correction=0), lambda s: s.amax(1), lambda s: s.amin(1), lambda s: s.amax(), lambda s: s.amin(), lambda s: s.argmax(1), lambda s: s.argmin(1), lambda s: s.any(1), lambda s: s.all(1), lambda s: s.count_nonzero(dim=1), lambda s: s.nansum(1), lambda s: s.nanmean(1))])(torch.tensor([[math.nan, 1, 2], [1, math.inf, math.nan], [math.inf, -math.inf, 0], [-math.inf, 1, -math.inf], [0., -0., 0], [1e15, -1e15, 1e15], [math.nan] * 3]))",
     {{}}, Types::All, Gradients::None},
    {"sum", [](const Tensors& x) { return Tensors{sum(x[0]), sum(x[0], {0, -1}), x[0].sum(1, true), sum(x[0], {})}; },
     "torch.sum(x), torch.sum(x, (0, -1)), x.sum(1, True), x", {{{2, 3, 4}}, {{2, 0, 3}}, {{7, 1, 1}}}},
    {"prod", [](const Tensors& x) { return Tensors{prod(x[0]), x[0].prod(1, true)}; }, "torch.prod(x), x.prod(1, True)", {{{2, 3}}, {{2, 0}}, {{5, 1}}}},
    {"mean", [](const Tensors& x) { return Tensors{mean(x[0]), mean(x[0], {0, 2}), x[0].mean(-1, true)}; },
     "torch.mean(x), torch.mean(x, (0, 2)), x.mean(-1, True)", {{{2, 3, 4}}, {{7, 1, 1}}}},
    {"var", [](const Tensors& x) { return Tensors{var(x[0]), var(x[0], {0, 2}, 0), x[0].var(1, 2, true)}; },
     "torch.var(x), torch.var(x, (0, 2), correction=0), x.var(1, correction=2, keepdim=True)", {{{2, 3, 4}}}},
    {"std", [](const Tensors& x) { return Tensors{sinter::std(x[0]), sinter::std(x[0], {0, 2}, 0), x[0].std(1, 1, true)}; },
     "torch.std(x), torch.std(x, (0, 2), correction=0), x.std(1, keepdim=True)", {{{2, 3, 4}}}},
    {"max", [](const Tensors& x) { return Tensors{max(x[0]), max(x[0], {0, 2}), x[0].max(1, true)}; },
     "torch.amax(x), torch.amax(x, (0, 2)), torch.amax(x, 1, True)", {{{2, 3, 4}}, {{7, 1, 1}}}, Types::All, Gradients::First},
    {"min", [](const Tensors& x) { return Tensors{min(x[0]), min(x[0], {0, 2}), x[0].min(1, true)}; },
     "torch.amin(x), torch.amin(x, (0, 2)), torch.amin(x, 1, True)", {{{2, 3, 4}}, {{7, 1, 1}}}, Types::All, Gradients::First},
    {"amax", [](const Tensors& x) { return Tensors{amax(x[0]), amax(x[0], 1, true), amax(x[0] * 0.0)}; },
     "torch.amax(x), torch.amax(x, 1, True), torch.amax(x * 0.0)", {{{2, 3}}}, Types::All, Gradients::First},
    {"amin", [](const Tensors& x) { return Tensors{amin(x[0]), amin(x[0], 1, true)}; }, "torch.amin(x), torch.amin(x, 1, True)",
     {{{2, 3}}, {{1, 5}}}, Types::All, Gradients::First},
    {"aminmax", [](const Tensors& x) { return both(aminmax(x[0], 1)); }, "torch.aminmax(x, dim=1)", {{{2, 3}}, {{1, 1}}}, Types::All, Gradients::First},
    {"any", [](const Tensors& x) { return Tensors{any(x[0]), x[0].any(1), any(x[0] > 2.0, 0, true)}; }, "torch.any(x), x.any(1), torch.any(x > 2.0, 0, True)",
     {{{2, 3}}, {{0, 2}}}, Types::All, Gradients::None},
    {"all", [](const Tensors& x) { return Tensors{all(x[0]), x[0].all(1), all(x[0] > 2.0, 0, true)}; }, "torch.all(x), x.all(1), torch.all(x > 2.0, 0, True)",
     {{{2, 3}}, {{0, 2}}}, Types::All, Gradients::None},
    {"argmax", [](const Tensors& x) { return Tensors{argmax(x[0]), argmax(x[0], 1), x[0].argmax(-1, true)}; },
     "torch.argmax(x), torch.argmax(x, 1), x.argmax(-1, True)", {{{2, 3, 4}}, {{5, 1, 1}}}, Types::All, Gradients::None},
    {"argmin", [](const Tensors& x) { return Tensors{argmin(x[0]), argmin(x[0], 1), x[0].argmin(-1, true)}; },
     "torch.argmin(x), torch.argmin(x, 1), x.argmin(-1, True)", {{{2, 3, 4}}, {{5, 1, 1}}}, Types::All, Gradients::None},
    {"std_mean", [](const Tensors& x) { return both(std_mean(x[0], 1, 0)); }, "torch.std_mean(x, 1, correction=0)", {{{2, 3}}}},
    {"var_mean", [](const Tensors& x) { return both(var_mean(x[0], {0, 1}, 1, true)); }, "torch.var_mean(x, (0, 1), keepdim=True)", {{{2, 3}}}},
    {"count_nonzero", [](const Tensors& x) { return Tensors{count_nonzero(x[0]), count_nonzero(x[0] * x[1], 1), count_nonzero(with_nan(x), 0)}; },
     "torch.count_nonzero(x), torch.count_nonzero(x * y, dim=1), torch.count_nonzero(torch.where(y, math.nan, x), dim=0)",
     {{{2, 5}, surface::mask({2, 5})}, {{0, 2}, surface::mask({0, 2})}}, Types::All, Gradients::None},
    {"nansum", [](const Tensors& x) { return Tensors{nansum(x[0]), nansum(with_nan(x), 1), nansum(with_nan(x), {0, 1}, true)}; },
     "torch.nansum(x), torch.nansum(torch.where(y, math.nan, x), 1), torch.nansum(torch.where(y, math.nan, x), (0, 1), True)",
     {{{2, 5}, surface::mask({2, 5})}, {{3, 1}, surface::mask({3, 1})}}},
    {"nanmean", [](const Tensors& x) { return Tensors{nanmean(x[0]), nanmean(with_nan(x), 1), nanmean(with_nan(x), {0, 1}, true)}; },
     "torch.nanmean(x), torch.nanmean(torch.where(y, math.nan, x), 1), torch.nanmean(torch.where(y, math.nan, x), (0, 1), True)",
     {{{2, 5}, surface::mask({2, 5})}}},
    {"nanmean: of none", [](const Tensors& x) { return nanmean(with_nan(x), 1); }, "torch.nanmean(torch.where(y, math.nan, x), 1)",
     {{{3, 1}, surface::mask({3, 1})}, {{2, 0}, surface::mask({2, 0})}}, Types::All, Gradients::None},
}, {
    SURFACE_BAD("sum", sum(values({2, 3}), 2), "2", "[2, 3]"),
    SURFACE_BAD("prod", prod(values({2, 3}), {0, 0}), "0", "[2, 3]"),
    SURFACE_BAD("std", sinter::std(values({2, 3}), -3), "-3", "[2, 3]"),
    SURFACE_BAD("max", max(values({2, 0})), "0", "[2, 0]"),
    SURFACE_BAD("argmin", argmin(values({2, 0}), 1), "0", "[2, 0]"),
    SURFACE_BAD("amax", amax(values({2, 0}), 1), "0", "[2, 0]"),
    SURFACE_BAD("aminmax", aminmax(values({0, 3}), 0), "0", "[0, 3]"),
    SURFACE_BAD("std_mean", std_mean(values({2, 3}), 5), "5", "[2, 3]"),
    SURFACE_BAD("count_nonzero", count_nonzero(values({2, 3}), {1, 1}), "1", "[2, 3]"),
    SURFACE_BAD("nansum", nansum(values({2, 3}), 2), "2", "[2, 3]"),
    SURFACE_BAD("nanmean", nanmean(values({2, 3}), -3), "-3", "[2, 3]"),
});
// clang-format on

}  // namespace
