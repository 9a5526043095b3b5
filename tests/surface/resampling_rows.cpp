// Resampling, shuffles of channels, sampling at places; and norms over instances and channels.
#include "sinter/create.h"
#include "sinter/normalization.h"
#include "sinter/resampling.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::Row;
using surface::Tensors;
using surface::within;

Tensor blank(Shape shape) { return zeros(shape); }

Row nearest_row() {
  return {"interpolate",
          [](const Tensors& x) -> Tensors {
            using enum ResampleMode;
            return {interpolate(x[0], {.scale_factor = 2}),
                    interpolate(x[0], {.size = {3, 7}}),
                    interpolate(x[0], {.size = {3, 7}, .mode = NearestExact}),
                    interpolate(x[0], {.scale_factor = {1.5, 0.7}}),
                    interpolate(x[0], {.size = {3, 7}, .mode = Area}),
                    interpolate(x[0].reshape({2, 4, 5}), {.size = 8, .mode = Linear}),
                    interpolate(x[0], {.scale_factor = 2, .mode = Bilinear}),
                    interpolate(x[0], {.size = {3, 7}, .mode = Bilinear, .align_corners = true}),
                    interpolate(x[0], {.scale_factor = {1.5, 0.7}, .mode = Bilinear}),
                    interpolate(x[0], {.size = {3, 7}, .mode = Bicubic}),
                    interpolate(x[0], {.scale_factor = 2, .mode = Bicubic, .align_corners = true})};
          },
          "F.interpolate(x, scale_factor=2), F.interpolate(x, (3, 7)), F.interpolate(x, (3, 7), mode='nearest-exact'), "
          "F.interpolate(x, scale_factor=(1.5, 0.7)), F.interpolate(x, (3, 7), mode='area'), "
          "F.interpolate(x.reshape(2, 4, 5), 8, mode='linear'), F.interpolate(x, scale_factor=2, mode='bilinear'), "
          "F.interpolate(x, (3, 7), mode='bilinear', align_corners=True), "
          "F.interpolate(x, scale_factor=(1.5, 0.7), mode='bilinear'), F.interpolate(x, (3, 7), mode='bicubic'), "
          "F.interpolate(x, scale_factor=2, mode='bicubic', align_corners=True)",
          {{{1, 2, 4, 5}}}};
}

Row trilinear_row() {
  return {"interpolate of volumes",
          [](const Tensors& x) -> Tensors {
            using enum ResampleMode;
            return {interpolate(x[0], {.scale_factor = 2, .mode = Trilinear}),
                    interpolate(x[0], {.size = {1, 4, 2}, .mode = Trilinear, .align_corners = true}),
                    interpolate(x[0], {.size = {1, 4, 2}})};
          },
          "F.interpolate(x, scale_factor=2, mode='trilinear'), "
          "F.interpolate(x, (1, 4, 2), mode='trilinear', align_corners=True), F.interpolate(x, (1, 4, 2))",
          {{{1, 1, 2, 3, 2}}, {{1, 2, 1, 1, 3}}}};
}

Row grid_row() {
  Row row{"grid_sample",
          [](const Tensors& x) -> Tensors {
            Tensors out;
            for (const GridPadding p : {GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection})
              for (const bool align : {false, true}) {
                out.push_back(grid_sample(x[0], x[1], {.padding_mode = p, .align_corners = align}));
                out.push_back(grid_sample(x[0], x[1], {ResampleMode::Nearest, p, align}));
              }
            return out;
          },
          "[F.grid_sample(x, y, m, p, a) for p in ('zeros', 'border', 'reflection') for a in (False, True) for m in "
          "('bilinear', 'nearest')]",
          {{{2, 2, 3, 4}, {2, 2, 3, 2}}}};
  return within(row, -1.7, 1.6);
}

const surface::Family kResampling(
    "resampling",
    {
        nearest_row(),
        trilinear_row(),
        grid_row(),
        {"affine_grid",
         [](const Tensors& x) -> Tensors {
           return {affine_grid(x[0], {2, 1, 3, 4}), affine_grid(x[0], {2, 1, 3, 1}, true)};
         },
         "F.affine_grid(x, (2, 1, 3, 4), align_corners=False), F.affine_grid(x, (2, 1, 3, 1), align_corners=True)",
         {{{2, 2, 3}}}},
        {"pixel_shuffle",
         [](const Tensors& x) -> Tensors { return {pixel_shuffle(x[0], 2), pixel_shuffle(x[0][0], 1)}; },
         "F.pixel_shuffle(x, 2), F.pixel_shuffle(x[0], 1)",
         {{{2, 4, 2, 3}}, {{1, 8, 1, 2}}}},
        {"pixel_unshuffle",
         [](const Tensors& x) -> Tensors { return {pixel_unshuffle(x[0], 2), pixel_unshuffle(x[0][0], 1)}; },
         "F.pixel_unshuffle(x, 2), F.pixel_unshuffle(x[0], 1)",
         {{{2, 1, 4, 6}}, {{1, 3, 2, 2}}}},
        {"channel_shuffle",
         [](const Tensors& x) -> Tensors { return {channel_shuffle(x[0], 2), channel_shuffle(x[0], 3)}; },
         "F.channel_shuffle(x, 2), F.channel_shuffle(x, 3)",
         {{{2, 6, 2, 3}}, {{1, 6, 1, 2}}}},
        {"instance_norm",
         [](const Tensors& x) -> Tensors {
           return {instance_norm(x[0], x[1], x[2]), instance_norm(x[0], {}, {}, 1e-2)};
         },
         "F.instance_norm(x, weight=y, bias=z), F.instance_norm(x, eps=1e-2)",
         {{{2, 3, 5}, {3}, {3}}, {{2, 2, 3, 2}, {2}, {2}}}},
        {"local_response_norm",
         [](const Tensors& x) -> Tensors {
           return {local_response_norm(x[0], 3, 0.1), local_response_norm(x[0], 2, 0.5, 0.6, 2),
                   local_response_norm(x[0], 9)};
         },
         "F.local_response_norm(x, 3, 0.1), F.local_response_norm(x, 2, 0.5, 0.6, 2), F.local_response_norm(x, 9)",
         {{{2, 5, 3}}, {{1, 4, 2, 2}}}},
    },
    {
        SURFACE_BAD("interpolate", interpolate(blank({1, 1, 4}), {.size = 2, .scale_factor = 2}), "{2}", "one of both"),
        SURFACE_BAD("interpolate", interpolate(blank({1, 1, 4}), {.size = 2, .mode = ResampleMode::Bilinear}), "3 axes",
                    "height"),
        SURFACE_BAD("interpolate", interpolate(blank({1, 1, 4}), {.scale_factor = 0.1}), "0 elements", "from 4"),
        SURFACE_BAD("pixel_shuffle", pixel_shuffle(blank({1, 6, 2, 2}), 2), "6 elements", "blocks of 4"),
        SURFACE_BAD("pixel_unshuffle", pixel_unshuffle(blank({1, 1, 4, 5}), 2), "5 elements", "parts of 2"),
        SURFACE_BAD("channel_shuffle", channel_shuffle(blank({1, 6, 4}), 4), "6 elements", "groups of 4"),
        SURFACE_BAD("grid_sample", grid_sample(blank({1, 1, 4, 4}), blank({2, 3, 3, 2})), "[1, 1, 4, 4]",
                    "[2, 3, 3, 2]"),
        SURFACE_BAD("affine_grid", affine_grid(blank({1, 2, 2}), {1, 1, 4, 4}), "[1, 2, 2]", "[1, 1, 4, 4]"),
        SURFACE_BAD("instance_norm", instance_norm(blank({2, 3})), "[2, 3]", "2 axes"),
        SURFACE_BAD("local_response_norm", local_response_norm(blank({2, 3, 2}), 0), "size is 0", "3 channels"),
    });

}  // namespace
