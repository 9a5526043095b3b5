// Max unpooling: values back to where max pooling found them, among zeros. A scatter into the elements of a channel.
#include <string_view>

#include "sinter/pooling.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/pick.h"
#include "tensor/ops/windows.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The sizes of the result along the sliding axes of x. Every size from which a pooling with these windows, with or
/// without ceil_mode, makes as many may be asked for: less than a stride from the default, as in PyTorch.
Shape unpooled_sizes(UOp x, size_t axes, const PerAxis& kernel, const MaxUnpoolOptions& o) {
  const auto sliding = window_axes(axes, kernel.numbers(), o.stride, o.padding, 1, ZeroStride::Kernel);
  Ints wanted;
  const bool given = !o.output_size.numbers().empty();
  if (given) wanted = per_axis("output_size", o.output_size.numbers(), axes, 1);
  Shape out;
  for (size_t i = 0; i < axes; ++i) {
    const WindowAxis& s = sliding[i];
    const auto axis = static_cast<int64_t>(x->rank() - axes + i);
    const int64_t windows = fixed_size(x, axis, "made of windows");
    int64_t before = 0, size = 0;  // the begin of the last window
    if (__builtin_mul_overflow(windows - 1, s.stride, &before) || __builtin_sub_overflow(before, s.padding, &size) ||
        __builtin_sub_overflow(size, s.padding, &size) || __builtin_add_overflow(size, s.kernel, &size))
      usage_error("{} windows of {} with stride {} have more elements than can be counted; give a smaller stride",
                  windows, s.kernel, s.stride);
    if (given && (wanted[i] <= size - s.stride || wanted[i] - s.stride >= size))
      usage_error(
          "output_size is {} for axis {} of {}, whose {} windows of {} with stride {} and padding "
          "{} come from {}; give a size that differs by less than the stride",
          wanted[i], axis, describe(x), windows, s.kernel, s.stride, s.padding, size);
    if (!given && size < 1)
      usage_error("{} windows of {} with padding {} leave {} elements of axis {}; give less padding", windows, s.kernel,
                  s.padding, size, axis);
    out.push_back(given ? wanted[i] : size);
  }
  return out;
}

Tensor max_unpool(std::string_view name, size_t axes, const Arg& input, const Tensor& indices, const PerAxis& kernel,
                  const MaxUnpoolOptions& o) {
  const Call call(name, input.where());
  UOp given = operand(input), index = index_operand(node_of(indices));
  unify_devices(given, index);
  if (!(given->shape == index->shape))
    usage_error("the values are {} and the indices {}; they need one shape", describe(given), describe(index));
  const UOp x = with_batch_axis(given, axes);
  const Shape sizes = unpooled_sizes(x, axes, kernel, o);
  // One axis for all elements of a channel, which the indices count.
  Shape windows, channel, out;
  for (Shape* s : {&windows, &channel, &out}) *s = {x->shape[0], x->shape[1]};
  int64_t taken = 1;
  for (size_t i = 2; i < x->rank(); ++i) taken *= x->shape[i].value();
  for (const Dim& d : sizes) out.push_back(d);
  check_shape(sizes);
  check_shape(out);
  windows.push_back(taken);
  channel.push_back(sizes.numel());
  const UOp empty = full(*x->graph, channel, x->dtype, 0, x->device);
  const UOp y = scatter(empty, reshape(index, windows), reshape(x, windows), 2, ScatterMode::Set);
  return unbatched(reshape(y, out), given, x);
}

}  // namespace

Tensor max_unpool1d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options) {
  return max_unpool("max_unpool1d", 1, x, indices, kernel, options);
}
Tensor max_unpool2d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options) {
  return max_unpool("max_unpool2d", 2, x, indices, kernel, options);
}
Tensor max_unpool3d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options) {
  return max_unpool("max_unpool3d", 3, x, indices, kernel, options);
}

}  // namespace sinter::inline v0
