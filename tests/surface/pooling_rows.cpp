// Pooling and adaptive pooling.
#include "sinter/create.h"
#include "sinter/pooling.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

Tensor plane(Shape shape) { return zeros(shape); }

using WithIndices = std::pair<Tensor, Tensor>;
using MaxPool = WithIndices (*)(Arg, const PerAxis&, const MaxPoolOptions&);
using AvgPool = Tensor (*)(Arg, const PerAxis&, const AvgPoolOptions&);

Tensors both(std::initializer_list<WithIndices> pairs) {
  Tensors out;
  for (const auto& [value, place] : pairs) out.insert(out.end(), {value, place});
  return out;
}

/// Values and indices of several windows over one input.
Row max_row(const std::string& name, MaxPool f, Shape shape, Shape other) {
  return {name + "_with_indices",
          [f](const Tensors& x) {
            return both({f(x[0], 2, {}), f(x[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}),
                         f(x[0], 2, {.stride = 3, .padding = 1, .dilation = 2, .ceil_mode = true}),
                         f(x[0][0], 2, {.stride = 1})});
          },
          "sum([list(f) for f in (F." + name + "(x, 2, return_indices=True), F." + name +
              "(x, 3, 2, 1, ceil_mode=True, return_indices=True), F." + name +
              "(x, 2, 3, 1, 2, ceil_mode=True, return_indices=True), F." + name +
              "(x[0], 2, 1, return_indices=True))], [])",
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

Row plain_max_row(const std::string& name, Tensor (*f)(Arg, const PerAxis&, const MaxPoolOptions&), Shape shape) {
  return {name,
          [f](const Tensors& x) -> Tensors {
            return {f(x[0], 3, {.stride = 2, .padding = 1}), f(x[0], 2, {.ceil_mode = true})};
          },
          "F." + name + "(x, 3, 2, 1), F." + name + "(x, 2, ceil_mode=True)",
          {{surface::Input(shape)}}};
}

Row avg_row(const std::string& name, AvgPool f, Shape shape, Shape other, bool divisor) {
  const std::string call = "F." + name;
  return {name,
          [f, divisor](const Tensors& x) -> Tensors {
            Tensors out{f(x[0], 2, {}), f(x[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}),
                        f(x[0], 3, {.stride = 2, .padding = 1, .count_include_pad = false, .ceil_mode = true}),
                        f(x[0][0], 2, {.stride = 3, .padding = 1, .count_include_pad = false})};
            if (divisor) out.push_back(f(x[0], 3, {.stride = 2, .padding = 1, .divisor_override = 5}));
            return out;
          },
          call + "(x, 2), " + call + "(x, 3, 2, 1, True), " + call + "(x, 3, 2, 1, True, False), " + call +
              "(x[0], 2, 3, 1, False, False)" + (divisor ? ", " + call + "(x, 3, 2, 1, divisor_override=5)" : ""),
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

Row lp_row(const std::string& name, Tensor (*f)(Arg, double, const PerAxis&, const LpPoolOptions&), Shape shape) {
  Row row{name,
          [f](const Tensors& x) -> Tensors {
            return {f(x[0], 2, 2, {}), f(x[0], 3, 3, {.stride = 2, .ceil_mode = true}),
                    f(x[0][0], 1.5, 2, {.stride = 1})};
          },
          "F." + name + "(x, 2, 2), F." + name + "(x, 3, 3, 2, ceil_mode=True), F." + name + "(x[0], 1.5, 2, 1)",
          {{surface::Input(shape)}}};
  return surface::within(row, 0.2, 1.5);
}

Row adaptive_row(const std::string& name, Tensor (*f)(Arg, const PerAxis&), Shape shape, Shape other) {
  return {name,
          [f](const Tensors& x) -> Tensors { return {f(x[0], 1), f(x[0], 2), f(x[0], 5), f(x[0][0], 3)}; },
          "F." + name + "(x, 1), F." + name + "(x, 2), F." + name + "(x, 5), F." + name + "(x[0], 3)",
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

Row adaptive_index_row(const std::string& name, WithIndices (*f)(Arg, const PerAxis&), Shape shape, Shape other) {
  return {name + "_with_indices",
          [f](const Tensors& x) { return both({f(x[0], 1), f(x[0], 2), f(x[0], 5), f(x[0][0], 3)}); },
          "sum([list(f) for f in (F." + name + "(x, 1, True), F." + name + "(x, 2, True), F." + name +
              "(x, 5, True), F." + name + "(x[0], 3, True))], [])",
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

const surface::Family kPooling(
    "pooling",
    {
        plain_max_row("max_pool1d", max_pool1d, {2, 1, 7}),
        plain_max_row("max_pool2d", max_pool2d, {1, 2, 4, 5}),
        plain_max_row("max_pool3d", max_pool3d, {1, 1, 4, 3, 5}),
        max_row("max_pool1d", max_pool1d_with_indices, {2, 2, 8}, {1, 1, 5}),
        max_row("max_pool2d", max_pool2d_with_indices, {1, 2, 6, 7}, {1, 1, 4, 3}),
        max_row("max_pool3d", max_pool3d_with_indices, {1, 1, 4, 3, 5}, {1, 2, 3, 3, 3}),
        avg_row("avg_pool1d", avg_pool1d, {2, 1, 8}, {1, 2, 5}, false),
        avg_row("avg_pool2d", avg_pool2d, {1, 2, 6, 7}, {1, 1, 4, 3}, true),
        avg_row("avg_pool3d", avg_pool3d, {1, 1, 4, 3, 5}, {1, 2, 3, 3, 3}, true),
        lp_row("lp_pool1d", lp_pool1d, {2, 1, 6}),
        lp_row("lp_pool2d", lp_pool2d, {1, 2, 4, 5}),
        adaptive_row("adaptive_avg_pool1d", adaptive_avg_pool1d, {2, 1, 6}, {1, 2, 7}),
        adaptive_row("adaptive_avg_pool2d", adaptive_avg_pool2d, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_row("adaptive_avg_pool3d", adaptive_avg_pool3d, {1, 1, 2, 4, 3}, {1, 1, 3, 2, 5}),
        adaptive_row("adaptive_max_pool1d", adaptive_max_pool1d, {2, 1, 6}, {1, 2, 7}),
        adaptive_row("adaptive_max_pool2d", adaptive_max_pool2d, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_row("adaptive_max_pool3d", adaptive_max_pool3d, {1, 1, 2, 4, 3}, {1, 1, 3, 2, 5}),
        adaptive_index_row("adaptive_max_pool1d", adaptive_max_pool1d_with_indices, {2, 1, 6}, {1, 2, 7}),
        adaptive_index_row("adaptive_max_pool2d", adaptive_max_pool2d_with_indices, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_index_row("adaptive_max_pool3d", adaptive_max_pool3d_with_indices, {1, 1, 2, 4, 3}, {1, 1, 3, 2, 5}),
    },
    {
        SURFACE_BAD("max_pool1d", max_pool1d(plane({1, 2, 8}), 2, {.padding = 2}), "padding 2", "at most 1"),
        SURFACE_BAD("max_pool3d", max_pool3d(plane({1, 2, 8}), 2), "[1, 2, 8]", "depth"),
        SURFACE_BAD("max_pool2d", max_pool2d(plane({1, 2, 8, 2}), 3, {.ceil_mode = true}), "3 taps", "has 2"),
        SURFACE_BAD("avg_pool3d", avg_pool3d(plane({1, 1, 4, 4, 4}), {2, 2}), "{2, 2}", "3 axes"),
        SURFACE_BAD("avg_pool1d", avg_pool1d(plane({1, 1, 4}), 2, {.divisor_override = 0}), "divisor_override", "0"),
        SURFACE_BAD("lp_pool1d", lp_pool1d(plane({1, 1, 4}), 0, 2), "p is 0", "root"),
        SURFACE_BAD("adaptive_avg_pool2d", adaptive_avg_pool2d(plane({1, 1, 4, 4}), 0), "is 0", "at least 1"),
        SURFACE_BAD("adaptive_max_pool1d", adaptive_max_pool1d(plane({1, 1, 0}), 3), "0 elements", "3 windows"),
    });

}  // namespace
