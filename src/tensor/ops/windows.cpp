// Checks of window options, and the view behind convolution and pooling.
#include "tensor/ops/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter::tensor {

Ints per_axis(std::string_view name, const std::vector<int64_t>& numbers, size_t axes, int64_t least) {
  if (numbers.size() != 1 && numbers.size() != axes)
    usage_error("{} is {{{}}}, but windows slide along {} {}; give one number, or one for each", name,
                fmt::join(numbers, ", "), axes, axes == 1 ? "axis" : "axes");
  for (int64_t n : numbers)
    if (n < least) usage_error("{} is {}; it must be at least {}", name, n, least);
  return numbers.size() == axes ? numbers : std::vector<int64_t>(axes, numbers[0]);
}

std::vector<WindowAxis> window_axes(size_t axes, const std::vector<int64_t>& kernel, const PerAxis& stride,
                                    const PerAxis& padding, const PerAxis& dilation, ZeroStride zero) {
  const std::vector<int64_t> k = per_axis("the kernel's size", kernel, axes, 1),
                             s = per_axis("stride", stride.numbers(), axes, zero == ZeroStride::Kernel ? 0 : 1),
                             p = per_axis("padding", padding.numbers(), axes, 0),
                             d = per_axis("dilation", dilation.numbers(), axes, 1);
  std::vector<WindowAxis> out;
  for (size_t i = 0; i < axes; ++i) out.push_back({k[i], s[i] ? s[i] : k[i], p[i], d[i]});
  return out;
}

std::string_view sliding_names(size_t sliding) {
  return sliding == 1 ? "length" : sliding == 2 ? "height, width" : "depth, height, width";
}

UOp with_batch_axis(UOp x, size_t sliding) {
  if (x->rank() == sliding + 1) return insert_axis(x, 0);
  if (x->rank() != sliding + 2)
    usage_error("{} has {} axes; give [n, channels, {}], or the same without n", describe(x), x->rank(),
                sliding_names(sliding));
  return x;
}

Tensor unbatched(UOp y, UOp given, UOp x) { return wrap(given->rank() == x->rank() ? y : drop_axes(y, {0})); }

UOp windows(UOp x, const std::vector<WindowAxis>& sliding, UOp given) {
  const size_t first = x->rank() - sliding.size(), first_given = given->rank() - sliding.size();
  for (size_t i = sliding.size(); i-- > 0;) {  // from the last axis: indices of earlier axes stay valid
    const WindowAxis& s = sliding[i];
    const auto axis = static_cast<int64_t>(first + i), theirs = static_cast<int64_t>(first_given + i);
    const int64_t size = fixed_size(given, theirs, "seen through windows"), room = s.padded(size);
    if (s.span() > room)
      usage_error(
          "a window of {} elements ({} taps, dilation {}) does not fit axis {} of {}, which has {} "
          "with padding {}; a smaller kernel or more padding is needed",
          s.span(), s.kernel, s.dilation, theirs, describe(given), room, s.padding);
    Shape widest = x->shape;  // ir::window() first makes a window at every position
    widest[axis] = room;
    widest.push_back(s.kernel);
    check_shape(widest);
    x = window(pad_axis(x, axis, s.padding, room), axis, s.kernel, std::min(s.stride, room), s.dilation);
  }
  return x;
}

UOp valid_mask(UOp x, const std::vector<WindowAxis>& sliding) {
  if (std::ranges::none_of(sliding, [](const WindowAxis& s) { return s.padding > 0 || s.more_after > 0; })) return {};
  Shape plane = x->shape;
  for (size_t i = 0; i + sliding.size() < x->rank(); ++i) plane[i] = 1;
  return windows(full(*x->graph, plane, DType::Bool, 1, x->device), sliding, x);
}

UOp counted_mask(UOp x, const std::vector<WindowAxis>& sliding) {
  if (std::ranges::none_of(sliding, [](const WindowAxis& s) { return s.more_after > 0; })) return {};
  Shape plane = x->shape;
  std::vector<WindowAxis> unpadded = sliding;
  const size_t lead = x->rank() - sliding.size();
  for (size_t i = 0; i < lead; ++i) plane[i] = 1;
  for (size_t i = 0; i < sliding.size(); ++i) {
    plane[lead + i] = x->shape[lead + i].value() + 2 * sliding[i].padding;
    unpadded[i].padding = 0;
  }
  const UOp all = full(*x->graph, plane, DType::Bool, 1, x->device);
  return windows(all, unpadded, all);
}

UOp overlap_add(UOp x, const std::vector<WindowAxis>& sliding, const Ints& sizes) {
  const size_t lead = x->rank() - 2 * sliding.size();
  for (size_t i = 0; i < sliding.size(); ++i) {
    const WindowAxis& s = sliding[i];
    const auto axis = static_cast<int64_t>(lead + i);
    const int64_t room = s.padded(sizes[i]);
    x = overlap_add(x, axis, std::min(s.stride, room), s.dilation, room, addition_of(x->dtype));
    x = shrink_axis(x, axis, s.padding, s.padding + sizes[i]);
  }
  return x;
}

Ints tap_axes(UOp windows, size_t sliding) {
  Ints axes;
  for (size_t i = 0; i < sliding; ++i) axes.push_back(static_cast<int64_t>(windows->rank() - 2 * sliding + 2 * i + 1));
  return axes;
}

}  // namespace sinter::tensor
