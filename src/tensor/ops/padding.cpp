// Padding with elements of the axis: the parts are joined, so that each keeps its bits and its gradient.
#include "tensor/ops/padding.h"

#include <algorithm>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
namespace tensor {
namespace {

/// What stands before (or behind) the axis of `size` elements.
UOp beyond_end(UOp x, int64_t axis, int64_t size, int64_t width, bool before, PadMode mode) {
  if (mode == PadMode::Circular)
    return before ? shrink_axis(x, axis, size - width, size) : shrink_axis(x, axis, 0, width);
  if (mode == PadMode::Reflect)
    return flip(before ? shrink_axis(x, axis, 1, width + 1) : shrink_axis(x, axis, size - width - 1, size - 1), {axis});
  const UOp end = before ? shrink_axis(x, axis, 0, 1) : shrink_axis(x, axis, size - 1, size);
  Shape shape = x->shape;
  shape[axis] = width;
  return expand(drop_axes(end, {axis}), shape, {axis});
}

}  // namespace

UOp pad_from_itself(UOp x, int64_t axis, int64_t before, int64_t after, PadMode mode) {
  const int64_t size = fixed_size(x, axis, "padded"), widest = std::max(before, after);
  if (widest == 0) return x;
  const int64_t most = mode == PadMode::Reflect ? size - 1 : mode == PadMode::Circular ? size : size > 0 ? widest : 0;
  if (widest > most)
    usage_error(
        "the width {} of axis {} is more than {} of size {} has to give, {}; give a smaller one, or "
        "PadMode::Constant",
        widest, axis, describe(x), size, std::max<int64_t>(most, 0));
  Shape shape = x->shape;
  shape[axis] = saturating_add(size, saturating_add(before, after));
  check_shape(shape);
  std::vector<UOp> parts;
  if (before) parts.push_back(beyond_end(x, axis, size, before, true, mode));
  parts.push_back(x);
  if (after) parts.push_back(beyond_end(x, axis, size, after, false, mode));
  return cat(parts, axis);
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

Tensor pad(Arg input, const std::vector<std::pair<int64_t, int64_t>>& widths, Choice<PadMode> mode, Arg value) {
  Call call("pad", input.where());
  UOp x = operand(input);
  if (mode == PadMode::Constant) return wrap(x).pad(widths, value, input.where());
  if (widths.size() > x->rank())
    usage_error("{} pairs of widths given for {}, which has {} axes; give at most one per axis", widths.size(),
                describe(x), x->rank());
  const auto first = static_cast<int64_t>(x->rank() - widths.size());
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto [before, after] = widths[i];
    const int64_t axis = first + static_cast<int64_t>(i);
    if (before < 0 || after < 0)
      usage_error("the widths {{{}, {}}} of axis {} of {} are negative; slice to take elements away", before, after,
                  axis, describe(x));
    x = pad_from_itself(x, axis, before, after, mode);
  }
  return wrap(x);
}

}  // namespace v0
}  // namespace sinter
