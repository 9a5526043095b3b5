// Pooling and adaptive pooling.
#include "sinter/create.h"
#include "sinter/pooling.h"
#include "surface/row.h"

#include <cmath>
#include <optional>

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

/// A size for each axis, in Python too. PyTorch's functions of one axis take no None.
struct Sizes {
  AdaptiveSize sizes;
  std::string python;
};
const Sizes kOne{{3}, "3"}, kTwo{{std::nullopt, 2}, "(None, 2)"}, kThree{{2, std::nullopt, 3}, "(2, None, 3)"};

Row adaptive_row(const std::string& name, Tensor (*f)(Arg, const AdaptiveSize&), const Sizes& sizes, Shape shape,
                 Shape other) {
  return {name,
          [f, sizes](const Tensors& x) -> Tensors {
            return {f(x[0], 1), f(x[0], 2), f(x[0], 5), f(x[0][0], 3), f(x[0], sizes.sizes)};
          },
          "F." + name + "(x, 1), F." + name + "(x, 2), F." + name + "(x, 5), F." + name + "(x[0], 3), F." + name +
              "(x, " + sizes.python + ")",
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

Row adaptive_index_row(const std::string& name, WithIndices (*f)(Arg, const AdaptiveSize&), const Sizes& sizes,
                       Shape shape, Shape other) {
  return {name + "_with_indices",
          [f, sizes](const Tensors& x) {
            return both({f(x[0], 1), f(x[0], 2), f(x[0], 5), f(x[0][0], 3), f(x[0], sizes.sizes)});
          },
          "sum([list(f) for f in (F." + name + "(x, 1, True), F." + name + "(x, 2, True), F." + name +
              "(x, 5, True), F." + name + "(x[0], 3, True), F." + name + "(x, " + sizes.python + ", True))], [])",
          {{surface::Input(shape)}, {surface::Input(other)}}};
}

using Unpool = Tensor (*)(Arg, const Tensor&, const PerAxis&, const MaxUnpoolOptions&);

/// The indices are distinct in each channel and fit the smallest of the results.
Row unpool_row(const std::string& name, Unpool f, const PerAxis& size, const std::string& python, const Shape& shape,
               int64_t below) {
  const std::string call = "F." + name;
  return {name,
          [f, size](const Tensors& x) -> Tensors {
            return {f(x[0], x[1], 2, {}), f(x[0], x[1], 2, {.output_size = size}),
                    f(x[0][0], x[1][0], 3, {.stride = 2, .padding = 1})};
          },
          call + "(x, y, 2), " + call + "(x, y, 2, output_size=" + python + "), " + call + "(x[0], y[0], 3, 2, 1)",
          {{surface::Input(shape), surface::indices(shape, below)}}};
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
        unpool_row("max_unpool1d", max_unpool1d, 7, "(7,)", {1, 2, 3}, 5),
        unpool_row("max_unpool2d", max_unpool2d, {5, 7}, "(5, 7)", {1, 2, 2, 3}, 15),
        unpool_row("max_unpool3d", max_unpool3d, {5, 3, 6}, "(5, 3, 6)", {1, 1, 2, 2, 3}, 45),
        avg_row("avg_pool1d", avg_pool1d, {2, 1, 8}, {1, 2, 5}, false),
        avg_row("avg_pool2d", avg_pool2d, {1, 2, 6, 7}, {1, 1, 4, 3}, true),
        avg_row("avg_pool3d", avg_pool3d, {1, 1, 4, 3, 5}, {1, 2, 3, 3, 3}, true),
        lp_row("lp_pool1d", lp_pool1d, {2, 1, 6}),
        lp_row("lp_pool2d", lp_pool2d, {1, 2, 4, 5}),
        adaptive_row("adaptive_avg_pool1d", adaptive_avg_pool1d, kOne, {2, 1, 6}, {1, 2, 7}),
        adaptive_row("adaptive_avg_pool2d", adaptive_avg_pool2d, kTwo, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_row("adaptive_avg_pool3d", adaptive_avg_pool3d, kThree, {1, 1, 2, 4, 3}, {1, 1, 3, 2, 5}),
        adaptive_row("adaptive_max_pool1d", adaptive_max_pool1d, kOne, {2, 1, 6}, {1, 2, 7}),
        adaptive_row("adaptive_max_pool2d", adaptive_max_pool2d, kTwo, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_row("adaptive_max_pool3d", adaptive_max_pool3d, kThree, {1, 1, 2, 4, 3}, {1, 1, 3, 2, 5}),
        adaptive_index_row("adaptive_max_pool1d", adaptive_max_pool1d_with_indices, kOne, {2, 1, 6}, {1, 2, 7}),
        adaptive_index_row("adaptive_max_pool2d", adaptive_max_pool2d_with_indices, kTwo, {1, 2, 4, 6}, {1, 1, 3, 5}),
        adaptive_index_row("adaptive_max_pool3d", adaptive_max_pool3d_with_indices, kThree, {1, 1, 2, 4, 3},
                           {1, 1, 3, 2, 5}),
    },
    {
        SURFACE_BAD("max_pool1d", max_pool1d(plane({1, 2, 8}), 2, {.padding = 2}), "padding 2", "at most 1"),
        SURFACE_BAD("max_pool3d", max_pool3d(plane({1, 2, 8}), 2), "[1, 2, 8]", "depth"),
        SURFACE_BAD("max_pool2d", max_pool2d(plane({1, 2, 8, 2}), 3), "3 taps", "has 2"),
        SURFACE_BAD("max_unpool1d", max_unpool1d(plane({1, 2, 3}), zeros({1, 2, 4}, int64), 2), "[1, 2, 3]",
                    "[1, 2, 4]"),
        SURFACE_BAD("max_unpool2d",
                    max_unpool2d(plane({1, 1, 2, 3}), zeros({1, 1, 2, 3}, int64), 2, {.output_size = {4, 8}}),
                    "output_size is 8", "come from 6"),
        SURFACE_BAD("max_unpool3d",
                    max_unpool3d(plane({1, 1, 1, 1, 1}), zeros({1, 1, 1, 1, 1}, int64), 2, {.padding = 1}), "padding 1",
                    "leave 0"),
        SURFACE_BAD("adaptive_avg_pool2d", adaptive_avg_pool2d(plane({1, 1, 4, 4}), {std::nullopt, 2, 2}), "3 sizes",
                    "2 axes"),
        SURFACE_BAD("avg_pool3d", avg_pool3d(plane({1, 1, 4, 4, 4}), {2, 2}), "{2, 2}", "3 axes"),
        SURFACE_BAD("avg_pool1d", avg_pool1d(plane({1, 1, 4}), 2, {.divisor_override = 0}), "divisor_override", "0"),
        SURFACE_BAD("lp_pool1d", lp_pool1d(plane({1, 1, 4}), 0, 2), "p is 0", "root"),
        SURFACE_BAD("lp_pool2d", lp_pool2d(plane({1, 1, 4, 4}), std::nan(""), 2), "p is nan", "root"),
        SURFACE_BAD("adaptive_avg_pool2d", adaptive_avg_pool2d(plane({1, 1, 4, 4}), 0), "is 0", "at least 1"),
        SURFACE_BAD("adaptive_max_pool1d", adaptive_max_pool1d(plane({1, 1, 0}), 3), "0 elements", "3 windows"),
    });

}  // namespace
