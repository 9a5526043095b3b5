// Convolutions, unfold and fold, and padding.
#include "sinter/conv.h"
#include "sinter/create.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;

Tensor image(Shape shape) { return zeros(shape); }

Row conv1d_row() {
  return {"conv1d",
          [](const Tensors& x) -> Tensors {
            return {conv1d(x[0], x[1], x[2], {.groups = 2}),
                    conv1d(x[0], x[1], x[2], {.stride = 2, .padding = 1, .dilation = 2, .groups = 2}),
                    conv1d(x[0], x[1], {}, {.padding = "same", .dilation = 3, .groups = 2}),
                    conv1d(x[0], x[1], {}, {.padding = "valid", .groups = 2}),
                    conv1d(x[0][0], x[1], x[2], {.groups = 2})};
          },
          "F.conv1d(x, y, z, groups=2), F.conv1d(x, y, z, 2, 1, 2, 2), F.conv1d(x, y, None, 1, 'same', 3, 2), "
          "F.conv1d(x, y, None, 1, 'valid', 1, 2), F.conv1d(x[0], y, z, groups=2)",
          {{{2, 4, 7}, {2, 2, 2}, {2}}, {{1, 2, 11}, {4, 1, 3}, {4}}}};
}

Row conv2d_row() {
  return {"conv2d",
          [](const Tensors& x) -> Tensors {
            return {conv2d(x[0], x[1], x[2]), conv2d(x[0], x[1], x[2], {.stride = {2, 1}, .padding = {1, 0}}),
                    conv2d(x[0], x[1], {}, {.padding = "same"}),
                    conv2d(x[0], x[1], {}, {.padding = 1, .padding_mode = PadMode::Reflect})};
          },
          "F.conv2d(x, y, z), F.conv2d(x, y, z, (2, 1), (1, 0)), F.conv2d(x, y, None, 1, 'same'), "
          "F.conv2d(F.pad(x, (1, 1, 1, 1), 'reflect'), y)",
          {{{2, 2, 4, 5}, {3, 2, 2, 3}, {3}}, {{0, 2, 4, 5}, {3, 2, 2, 3}, {3}}}};
}

Row conv3d_row() {
  return {"conv3d",
          [](const Tensors& x) -> Tensors {
            return {conv3d(x[0], x[1], x[2]),
                    conv3d(x[0], x[1], x[2], {.stride = {1, 2, 3}, .padding = {1, 0, 2}, .dilation = {1, 2, 1}}),
                    conv3d(x[0], x[1], {}, {.padding = "same"}), conv3d(x[0][0], x[1], x[2])};
          },
          "F.conv3d(x, y, z), F.conv3d(x, y, z, (1, 2, 3), (1, 0, 2), (1, 2, 1)), F.conv3d(x, y, None, 1, 'same'), "
          "F.conv3d(x[0], y, z)",
          {{{1, 2, 3, 4, 3}, {2, 2, 2, 2, 3}, {2}}, {{2, 1, 3, 3, 5}, {1, 1, 3, 1, 2}, {1}}}};
}

Row conv_transpose1d_row() {
  return {"conv_transpose1d",
          [](const Tensors& x) -> Tensors {
            return {conv_transpose1d(x[0], x[1], x[2], {.groups = 2}),
                    conv_transpose1d(x[0], x[1], x[2], {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2}),
                    conv_transpose1d(x[0], x[1], {}, {.stride = 3, .groups = 2, .dilation = 2}),
                    conv_transpose1d(x[0], x[1], {}, {.stride = 2, .output_padding = 3, .groups = 2, .dilation = 4}),
                    conv_transpose1d(x[0][0], x[1], x[2], {.stride = 4, .groups = 2})};
          },
          "F.conv_transpose1d(x, y, z, groups=2), F.conv_transpose1d(x, y, z, 2, 1, 1, 2), "
          "F.conv_transpose1d(x, y, None, 3, 0, 0, 2, 2), F.conv_transpose1d(x, y, None, 2, 0, 3, 2, 4), "
          "F.conv_transpose1d(x[0], y, z, 4, groups=2)",
          {{{2, 2, 3}, {2, 2, 3}, {4}}, {{1, 4, 1}, {4, 1, 4}, {2}}, {{2, 2, 5}, {2, 1, 2}, {2}}}};
}

Row conv_transpose2d_row() {
  return {"conv_transpose2d",
          [](const Tensors& x) -> Tensors {
            return {conv_transpose2d(x[0], x[1], x[2]), conv_transpose2d(x[0], x[1], x[2], {.stride = 2, .padding = 1}),
                    conv_transpose2d(x[0], x[1], {}, {.stride = {1, 3}, .output_padding = {0, 2}, .dilation = {2, 1}})};
          },
          "F.conv_transpose2d(x, y, z), F.conv_transpose2d(x, y, z, 2, 1), "
          "F.conv_transpose2d(x, y, None, (1, 3), 0, (0, 2), 1, (2, 1))",
          {{{2, 3, 3, 2}, {3, 2, 4, 4}, {2}}, {{1, 1, 2, 3}, {1, 2, 2, 3}, {2}}, {{0, 1, 2, 3}, {1, 2, 2, 3}, {2}}}};
}

Row conv_transpose3d_row() {
  return {"conv_transpose3d",
          [](const Tensors& x) -> Tensors {
            return {conv_transpose3d(x[0], x[1], x[2]),
                    conv_transpose3d(x[0], x[1], x[2], {.stride = 2, .padding = {0, 1, 1}, .output_padding = 1})};
          },
          "F.conv_transpose3d(x, y, z), F.conv_transpose3d(x, y, z, 2, (0, 1, 1), 1)",
          {{{1, 2, 2, 2, 3}, {2, 2, 2, 3, 2}, {2}}}};
}

Row unfold_row() {
  return {"unfold",
          [](const Tensors& x) -> Tensors {
            return {unfold(x[0], 2), unfold(x[0], {2, 3}, {.dilation = {2, 1}, .padding = {1, 0}, .stride = {1, 2}}),
                    unfold(x[0][0], {3, 1}, {.stride = 2})};
          },
          "F.unfold(x, 2), F.unfold(x, (2, 3), (2, 1), (1, 0), (1, 2)), F.unfold(x[0], (3, 1), stride=2)",
          {{{2, 2, 4, 5}}, {{1, 1, 3, 3}}}};
}

Row fold_row() {
  return {"fold",
          [](const Tensors& x) -> Tensors {
            return {fold(x[0], {4, 3}, 2), fold(x[0], {2, 3}, 2, {.padding = {1, 0}}),
                    fold(x[0][0], {4, 4}, 2, {.stride = {2, 1}})};
          },
          "F.fold(x, (4, 3), 2), F.fold(x, (2, 3), 2, padding=(1, 0)), F.fold(x[0], (4, 4), 2, stride=(2, 1))",
          {{{2, 8, 6}}}};
}

const surface::Family kConvolution(
    "convolution",
    {conv1d_row(), conv2d_row(), conv3d_row(), conv_transpose1d_row(), conv_transpose2d_row(), conv_transpose3d_row(),
     unfold_row(), fold_row()},
    {
        SURFACE_BAD("conv3d", conv3d(image({1, 2, 3, 3, 3}), image({4, 3, 1, 1, 1})), "2 channels", "takes 3"),
        SURFACE_BAD("conv2d", conv2d(image({1, 2, 3, 3}), image({4, 2, 2, 2}), {}, {.stride = 2, .padding = "same"}),
                    "\"same\"", "stride 2"),
        SURFACE_BAD("conv1d", conv1d(image({1, 2, 3}), image({4, 2, 2}), {}, {.padding = "full"}), "\"full\"",
                    "\"valid\""),
        SURFACE_BAD("conv_transpose2d", conv_transpose2d(image({1, 3, 3, 3}), image({4, 2, 2, 2})), "3 channels",
                    "takes 4"),
        SURFACE_BAD("conv_transpose1d",
                    conv_transpose1d(image({1, 4, 3}), image({4, 2, 2}), {}, {.stride = 2, .output_padding = 3}),
                    "is 3", "stride 2"),
        SURFACE_BAD("conv_transpose1d", conv_transpose1d(image({1, 4, 1}), image({4, 2, 2}), {}, {.padding = 1}),
                    "padding 1", "leave 0"),
        SURFACE_BAD("fold", fold(image({1, 8, 6}), {4, 4}, 2), "[1, 8, 6]", "3 x 3 windows"),
        SURFACE_BAD("pad", pad(image({2, 3}), {{0, 3}}, PadMode::Reflect), "width 3", "size 3"),
        SURFACE_BAD("pad", pad(image({2, 3}), {{4, 0}}, PadMode::Circular), "width 4", "size 3"),
    });

}  // namespace
