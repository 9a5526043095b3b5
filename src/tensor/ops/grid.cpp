// grid_sample and affine_grid.
#include "sinter/resampling.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// A coordinate mirrored at low/2 and high/2 until it is between them.
UOp reflected(UOp at, double twice_low, double twice_high) {
  if (twice_low == twice_high) return ir::like(at, 0.0);
  const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
  const UOp off = alu(Op::Abs, {at - low}), extra = alu(Op::FMod, {off, ir::like(off, span)}),
            turns = alu(Op::FMod, {alu(Op::Floor, {off / span}), ir::like(off, 2.0)});
  return where(eq(turns, ir::like(off, 0.0)), extra + low, (low + span) - extra);
}

/// Coordinates from -1 to 1 as positions along an axis of `size` elements.
UOp positions_in(UOp grid, int64_t size, const GridSampleOptions& o) {
  const auto n = static_cast<double>(size);
  UOp at = o.align_corners ? (grid + 1.0) / 2.0 * (n - 1) : ((grid + 1.0) * n - 1.0) / 2.0;
  if (o.padding_mode == GridPadding::Zeros) return at;
  if (o.padding_mode == GridPadding::Reflection)
    at = o.align_corners ? reflected(at, 0, 2 * (n - 1)) : reflected(at, -1, 2 * n - 1);
  return minimum(maximum(at, ir::like(at, 0.0)), ir::like(at, n - 1));
}

/// x, [n, c, h, w], at whole positions [n, places], zero outside: [n, c, places].
UOp looked_up(UOp x, UOp column, UOp row) {
  const auto bound = [&](size_t axis) { return x->shape[axis].value(); };
  const auto number = [&](int64_t n) { return ir::like(column, static_cast<double>(n)); };
  const UOp zero = number(0);
  UOp inside = le(zero, column) & lt(column, number(bound(3))) & le(zero, row) & lt(row, number(bound(2)));
  const auto as_index = [&](UOp at) { return cast(where(inside, at, zero), DType::I64); };
  const UOp index_row = as_index(row), width = ir::like(index_row, Scalar::of(DType::I64, bound(3)));
  const Shape places{x->shape[0], x->shape[1], column->shape[1]};
  const UOp index = expand(index_row * width + as_index(column), places, {1});
  inside = expand(inside, places, {1});
  const UOp found = gather(reshape(x, {x->shape[0], x->shape[1], bound(2) * bound(3)}), index, 2);
  return where(inside, found, ir::like(found, 0.0));
}

UOp bilinear(UOp x, UOp column, UOp row) {
  const UOp left = alu(Op::Floor, {column}), top = alu(Op::Floor, {row});
  const UOp right_part = column - left, bottom_part = row - top;
  UOp total;
  for (const int down : {0, 1})
    for (const int across : {0, 1}) {
      const UOp weight = (across ? right_part : 1.0 - right_part) * (down ? bottom_part : 1.0 - bottom_part);
      const UOp found = looked_up(x, left + static_cast<double>(across), top + static_cast<double>(down)),
                part = found * expand(weight, found->shape, {1});
      total = total ? total + part : part;
    }
  return total;
}

/// Coordinates [count] of the centers (or corners) of `count` elements from -1 to 1.
UOp centers(UOp like, int64_t count, bool align) {
  const UOp i = cast(position({count}, 0, like->device), like->dtype);
  const auto n = static_cast<double>(count);
  if (align) return count == 1 ? ir::like(i, 0.0) : i * (2.0 / (n - 1)) - 1.0;
  return (i * 2.0 + 1.0) / n - 1.0;
}

}  // namespace

Tensor grid_sample(Arg input, const Tensor& grid, const GridSampleOptions& o) {
  Call call("grid_sample", input.where());
  const UOp given = float_operand(input), x = to_compute_type(given);
  UOp g = on_device(node_of(grid), x->device, x->shape);
  if (x->rank() != 4 || g->rank() != 4 || !(g->shape[3] == 2) || !(g->shape[0] == x->shape[0]))
    usage_error("{} at the places of {}; give [n, c, h, w] and [n, out, out, 2]", describe(given), describe(g));
  if (o.mode != ResampleMode::Bilinear && o.mode != ResampleMode::Nearest)
    usage_error("the mode is neither ResampleMode::Bilinear nor ResampleMode::Nearest; give one of them");
  const int64_t h = fixed_size(x, 2, "sampled"), w = fixed_size(x, 3, "sampled"),
                oh = fixed_size(g, 1, "a size of the result"), ow = fixed_size(g, 2, "a size of the result");
  fixed_size(x, 0, "sampled");
  fixed_size(x, 1, "sampled");
  if (h < 1 || w < 1) usage_error("{} has no elements to sample; h and w must be at least 1", describe(given));
  g = reshape(cast(g, x->dtype), {g->shape[0], oh * ow, 2});
  const auto coordinate = [&](int64_t k) { return drop_axes(tensor::shrink_axis(g, 2, k, k + 1), {2}); };
  UOp column = positions_in(coordinate(0), w, o), row = positions_in(coordinate(1), h, o);
  const UOp y = o.mode == ResampleMode::Nearest ? looked_up(x, alu(Op::Round, {column}), alu(Op::Round, {row}))
                                                : bilinear(x, column, row);
  return wrap(cast(reshape(y, {x->shape[0], x->shape[1], oh, ow}), given->dtype));
}

Tensor affine_grid(Arg theta, const Shape& size, bool align_corners) {
  Call call("affine_grid", theta.where());
  const UOp given = float_operand(theta), t = to_compute_type(given);
  check_shape(size);
  if (t->rank() != 3 || !(t->shape[1] == 2) || !(t->shape[2] == 3) || size.rank() != 4 || size.symbolic() ||
      !(size[0] == t->shape[0]))
    usage_error("{} for a result of size {}; give maps [n, 2, 3] and a size [n, c, h, w]", describe(given),
                to_string(size));
  const Shape shape{size[0], size[2], size[3], 2};
  // Column k of the maps, in the shape of the grid.
  const auto column = [&](int64_t k) {
    return expand(drop_axes(tensor::shrink_axis(t, 2, k, k + 1), {2}), shape, {1, 2});
  };
  const UOp x = expand(centers(t, size[3].value(), align_corners), shape, {0, 1, 3}),
            y = expand(centers(t, size[2].value(), align_corners), shape, {0, 2, 3});
  return wrap(cast(column(0) * x + column(1) * y + column(2), given->dtype));
}

}  // namespace sinter::inline v0
