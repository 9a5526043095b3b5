// Pooling: a reduction over the taps of windows.
#include <fmt/format.h>

#include "ir/combine.h"
#include "sinter/conv.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/windows.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::Combine;
using ir::UOp;
using tensor::Call;
using tensor::usage_error;
using tensor::WindowAxis;
using tensor::wrap;

constexpr size_t kPoolAxes = 2;  ///< sliding axes

std::vector<WindowAxis> pooling_axes(const PerAxis& kernel, const PerAxis& stride, const PerAxis& padding,
                                     const PerAxis& dilation) {
  std::vector<WindowAxis> out =
      tensor::window_axes(kPoolAxes, kernel.numbers(), stride, padding, dilation, tensor::ZeroStride::Kernel);
  for (const WindowAxis& s : out)
    if (s.padding > s.span() / 2)
      usage_error(
          fmt::format("padding {} is more than half of the kernel, which covers {}: a window would see nothing else; "
                      "give at most {}",
                      s.padding, s.span(), s.span() / 2));
  return out;
}

/// The taps of the windows, merged into one last axis.
UOp taps_last(UOp windows) {
  const size_t lead = windows->rank() - 2 * kPoolAxes;
  ir::Ints order;
  for (size_t i = 0; i < lead; ++i) order.push_back(static_cast<int64_t>(i));
  Shape shape;
  for (size_t i = 0; i < lead; ++i) shape.push_back(windows->shape[i]);
  int64_t taps = 1;
  for (size_t i = 0; i < kPoolAxes; ++i) {
    order.push_back(static_cast<int64_t>(lead + 2 * i));
    shape.push_back(windows->shape[lead + 2 * i]);
    taps *= windows->shape[lead + 2 * i + 1].value();
  }
  for (size_t i = 0; i < kPoolAxes; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i + 1));
  shape.push_back(taps);
  return ir::reshape(ir::permute(windows, order), shape);
}

}  // namespace

Tensor max_pool2d(Arg input, const PerAxis& kernel, const MaxPoolOptions& o) {
  Call call("max_pool2d", input.where());
  const UOp given = tensor::operand(input), x = tensor::with_batch_axis(given, kPoolAxes);
  const std::vector<WindowAxis> sliding = pooling_axes(kernel, o.stride, o.padding, o.dilation);
  UOp w = taps_last(tensor::windows(x, sliding, given)), inside = tensor::valid_mask(x, sliding);
  const auto axis = static_cast<int64_t>(w->rank()) - 1;
  if (inside) {
    inside = ir::broadcast_to(taps_last(inside), w->shape);
    w = ir::where(inside, w, ir::like(w, ir::reduction_identity(Combine::Max, w->dtype)));
  }
  // The first largest element takes the gradient (SEMANTICS G7). Taps are few: 32-bit positions have as many lanes as
  // float32. A plan that needs no position computes none. A plan that trains shares this node with a metric under
  // no_grad (N5).
  UOp place = ir::cast(tensor::position(w->shape, axis, w->device), DType::I32);
  if (inside) place = ir::where(inside, place, ir::like(place, ir::reduction_identity(Combine::ArgMax, DType::I32, 1)));
  const UOp pairs[] = {w, place};
  UOp y = ir::reduce(Combine::ArgMax, pairs, {axis}, 0);
  return wrap(given->rank() == x->rank() ? y : tensor::drop_axes(y, {0}));
}

Tensor avg_pool2d(Arg input, const PerAxis& kernel, const AvgPoolOptions& o) {
  Call call("avg_pool2d", input.where());
  const UOp given = tensor::float_operand(input), x = ir::to_compute_type(tensor::with_batch_axis(given, kPoolAxes));
  const std::vector<WindowAxis> sliding = pooling_axes(kernel, o.stride, o.padding, 1);
  const UOp w = tensor::windows(x, sliding, given);
  const ir::Ints taps = tensor::tap_axes(w, kPoolAxes);
  UOp total = ir::reduce(Combine::Add, w, taps), count;
  if (UOp inside = o.count_include_pad ? UOp() : tensor::valid_mask(x, sliding))
    count = ir::broadcast_to(ir::reduce(Combine::Add, ir::cast(inside, x->dtype), taps), total->shape);
  else
    count = ir::like(total, static_cast<double>(sliding[0].kernel * sliding[1].kernel));
  UOp y = ir::cast(total / count, given->dtype);
  return wrap(given->rank() == x->rank() ? y : tensor::drop_axes(y, {0}));
}

}  // namespace v0
}  // namespace sinter
