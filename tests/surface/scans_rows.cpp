// Running sums and the like along an axis.
#include "sinter/create.h"
#include "sinter/scans.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

const std::vector<std::vector<surface::Input>> kRows{{{2, 3, 4}}, {{7}}, {{5, 1}}, {{3, 0}}};

Row along(std::string name, Tensor (*f)(Arg, int64_t), std::string torch,
          std::vector<std::vector<surface::Input>> cases) {
  return {std::move(name), [f](const Tensors& x) { return f(x[0], -1); }, std::move(torch), std::move(cases)};
}
Row extreme(std::string name, Ranked (*f)(Arg, int64_t), std::string torch) {
  const auto both = [f](const Tensors& x) {
    const auto [values, indices] = f(x[0], 0);
    return Tensors{values, indices};
  };
  return {std::move(name), both, std::move(torch), {{{5, 2, 3}}, {{11}}, {{1, 4}}}};
}

const surface::Family kScans("scans",
                             {
                                 along("cumsum", cumsum, "torch.cumsum(x, -1)", kRows),
                                 along("cumprod", cumprod, "torch.cumprod(x, -1)", kRows),
                                 along("logcumsumexp", logcumsumexp, "torch.logcumsumexp(x, -1)", kRows),
                                 extreme("cummax", cummax, "torch.cummax(x, 0)"),
                                 extreme("cummin", cummin, "torch.cummin(x, 0)"),
                                 {"trapezoid",
                                  [](const Tensors& x) { return trapezoid(x[0], 0.25, 1); },
                                  "torch.trapezoid(x, dx=0.25, dim=1)",
                                  {{{2, 5, 3}}, {{4, 1}}}},
                                 {"trapezoid, places",
                                  [](const Tensors& x) { return trapezoid(x[0], x[1]); },
                                  "torch.trapezoid(x, y)",
                                  {{{2, 5}, {5}}, {{3, 4}, {3, 4}}}},
                                 {"cumulative_trapezoid",
                                  [](const Tensors& x) { return cumulative_trapezoid(x[0], 3, 0); },
                                  "torch.cumulative_trapezoid(x, dx=3, dim=0)",
                                  {{{5, 2}}, {{1, 2}}}},
                                 {"cumulative_trapezoid, places",
                                  [](const Tensors& x) { return cumulative_trapezoid(x[0], x[1]); },
                                  "torch.cumulative_trapezoid(x, y)",
                                  {{{2, 5}, {5}}, {{3, 4}, {3, 4}}}},
                             },
                             {
                                 SURFACE_BAD("cumsum", cumsum(zeros({2, 3}), 2), "axis 2", "[2, 3]"),
                                 SURFACE_BAD("cumprod", cumprod(zeros({2, 3}), -3), "axis -3", "[2, 3]"),
                                 SURFACE_BAD("logcumsumexp", logcumsumexp(zeros({2, 3}), 2), "axis 2", "[2, 3]"),
                                 SURFACE_BAD("cummax", cummax(zeros({4}), 1), "axis 1", "[4]"),
                                 SURFACE_BAD("cummin", cummin(zeros({4}), 1), "axis 1", "[4]"),
                                 SURFACE_BAD("trapezoid", trapezoid(zeros({2, 3}), zeros({2})), "[2]", "[2, 3]"),
                                 SURFACE_BAD("cumulative_trapezoid", cumulative_trapezoid(zeros({2, 3}), zeros({3, 3})),
                                             "[3, 3]", "[2, 3]"),
                             });

}  // namespace
