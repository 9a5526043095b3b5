// Windows along one axis; unfold and fold: windows of an image as columns, and their sum where they overlap.
#include <algorithm>

#include "sinter/conv.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/windows.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

std::vector<WindowAxis> column_windows(const PerAxis& kernel, const UnfoldOptions& o) {
  return window_axes(2, kernel.numbers(), o.stride, o.padding, o.dilation);
}

}  // namespace

Tensor Tensor::unfold(int64_t axis, int64_t size, int64_t step, Loc where) const {
  const Call call("unfold", where);
  const UOp x = node_of(*this);
  axis = axis_of(x, axis);
  const int64_t length = fixed_size(x, axis, "seen through windows");
  if (size < 1 || size > length || step < 1)
    usage_error(
        "windows of {} elements, one every {}, along axis {} of {}; give a size of 1 to {} and a step of 1 or more",
        size, step, axis, describe(x), length);
  Shape widest = x->shape;  // ir::window() first makes a window at every position
  widest.push_back(size);
  check_shape(widest);
  const UOp windows = window(x, axis, size, std::min(step, length), 1);
  Ints order = ir::all_axes(windows->rank());
  order.erase(order.begin() + axis + 1);
  order.push_back(axis + 1);
  return wrap(ir::permute(windows, order));
}

Tensor unfold(Arg input, const PerAxis& kernel, const UnfoldOptions& o) {
  Call call("unfold", input.where());
  const UOp given = operand(input), x = with_batch_axis(given, 2);
  const int64_t channels = fixed_size(x, 1, "an axis of channels");
  const std::vector<WindowAxis> sliding = column_windows(kernel, o);
  const UOp w = windows(x, sliding, given);  // [n, c, windows, taps, windows, taps]
  const Shape columns{x->shape[0], channels * sliding[0].kernel * sliding[1].kernel,
                      w->shape[2].value() * w->shape[4].value()};
  return unbatched(reshape(ir::permute(w, {0, 1, 3, 5, 2, 4}), columns), given, x);
}

Tensor fold(Arg input, const PerAxis& size, const PerAxis& kernel, const UnfoldOptions& o) {
  Call call("fold", input.where());
  const UOp given = operand(input);
  if (given->rank() != 2 && given->rank() != 3)
    usage_error("{} has {} axes; give [n, channels * kernel, windows], or the same without n", describe(given),
                given->rank());
  const UOp x = given->rank() == 2 ? insert_axis(given, 0) : given;
  const std::vector<WindowAxis> sliding = column_windows(kernel, o);
  const Ints sizes = per_axis("the output's size", size.numbers(), 2, 1);
  const int64_t taps = sliding[0].kernel * sliding[1].kernel, have = fixed_size(x, 1, "an axis of channels"),
                columns = fixed_size(x, 2, "an axis of windows");
  int64_t windows[2];
  for (size_t i = 0; i < 2; ++i) {
    const int64_t room = sliding[i].padded(sizes[i]);
    check_shape({room});
    windows[i] = room < sliding[i].span() ? 0 : (room - sliding[i].span()) / sliding[i].stride + 1;
  }
  if (have % taps || columns != windows[0] * windows[1] || columns == 0)
    usage_error(
        "{} does not fold to {} x {}: the kernel has {} taps, which must divide axis 1, and axis 2 "
        "must have {} x {} windows",
        describe(given), sizes[0], sizes[1], taps, windows[0], windows[1]);
  const Shape split{x->shape[0], have / taps, sliding[0].kernel, sliding[1].kernel, windows[0], windows[1]};
  const UOp w = ir::permute(reshape(to_compute_type(x), split), {0, 1, 4, 2, 5, 3});
  return unbatched(cast(tensor::overlap_add(w, sliding, sizes), given->dtype), given, x);
}

}  // namespace sinter::inline v0
