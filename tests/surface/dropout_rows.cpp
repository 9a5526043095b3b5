// Dropout. The draws are those of a generator that starts anew in each call.
#include "sinter/dropout.h"

#include "sinter/create.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Input;
using surface::Row;
using surface::Tensors;

Tensor ones_of(Shape shape) { return ones(shape); }

Row drop(std::string name, Tensor (*f)(Arg, double, bool, Generator*), std::vector<std::vector<Input>> cases) {
  Row row{std::move(name),
          [f](const Tensors& x) -> Tensors {
            Generator g(5);
            return {f(x[0], 0.4, true, &g), f(x[0], 0.4, false, &g), f(x[0], 1, true, &g)};
          },
          "", std::move(cases)};
  row.because = "random: tests/unit/tensor/ops/dropout_test.cpp";
  return row;
}

const surface::Family kDropout(
    "dropout",
    {
        drop("dropout", dropout, {{{2, 3}}, {{}}, {{0, 2}}, {{17}}}),
        drop("feature_dropout", feature_dropout, {{{2, 3}}, {{2, 3, 2, 1, 2}}, {{2, 0, 3}}}),
        drop("dropout1d", dropout1d, {{{2, 3, 2}}, {{5, 2}}}),
        drop("dropout2d", dropout2d, {{{2, 3, 2, 2}}, {{2, 5, 2}}}),
        drop("dropout3d", dropout3d, {{{2, 3, 2, 1, 2}}, {{5, 2, 1, 2}}}),
        drop("alpha_dropout", alpha_dropout, {{{2, 3}}, {{}}, {{0, 2}}, {{17}}}),
        drop("feature_alpha_dropout", feature_alpha_dropout, {{{2, 3}}, {{2, 3, 2, 1, 2}}, {{2, 0, 3}}}),
    },
    {
        SURFACE_BAD("dropout", dropout(ones_of({2}), 1.5), "1.5", "[0, 1]"),
        SURFACE_BAD("feature_dropout", feature_dropout(ones_of({2})), "[2]", "[n, channels, ...]"),
        SURFACE_BAD("dropout1d", dropout1d(ones_of({2, 3, 4, 5})), "[2, 3, 4, 5]", "[n, channels, l]"),
        SURFACE_BAD("dropout2d", dropout2d(ones_of({2})), "[2]", "[n, channels, h, w]"),
        SURFACE_BAD("dropout3d", dropout3d(ones_of({2, 3})), "[2, 3]", "[n, channels, d, h, w]"),
        SURFACE_BAD("alpha_dropout", alpha_dropout(ones_of({2}), -1), "-1", "[0, 1]"),
    });

}  // namespace
