// Pooling: a reduction over the taps of windows.

#include <algorithm>
#include <cmath>

#include "ir/ceil_div.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/pool.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/windows.h"

namespace sinter {
namespace tensor {
namespace {

/// The taps of the windows, merged into one last axis.
UOp taps_last(UOp windows, size_t sliding) {
  const size_t lead = windows->rank() - 2 * sliding;
  Ints order;
  for (size_t i = 0; i < lead; ++i) order.push_back(static_cast<int64_t>(i));
  Shape shape;
  for (size_t i = 0; i < lead; ++i) shape.push_back(windows->shape[i]);
  int64_t taps = 1;
  for (size_t i = 0; i < sliding; ++i) {
    order.push_back(static_cast<int64_t>(lead + 2 * i));
    shape.push_back(windows->shape[lead + 2 * i]);
    taps *= windows->shape[lead + 2 * i + 1].value();
  }
  for (size_t i = 0; i < sliding; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i + 1));
  shape.push_back(taps);
  return reshape(permute(windows, order), shape);
}

/// The tap of each window, counted in row-major order, as a position in x's sliding axes.
UOp position_of_tap(UOp tap, UOp x, const std::vector<WindowAxis>& sliding) {
  UOp rest = cast(tap, DType::I64), place;
  int64_t apart = 1;
  const auto number = [&](int64_t n) { return like(rest, Scalar::of(DType::I64, n)); };
  for (size_t i = sliding.size(); i-- > 0;) {
    const WindowAxis& s = sliding[i];
    const auto axis = static_cast<int64_t>(x->rank() - sliding.size() + i);
    const UOp here = position(tap->shape, axis, tap->device) * number(s.stride) +
                     mod(rest, number(s.kernel)) * number(s.dilation) - number(s.padding);
    rest = idiv(rest, number(s.kernel));
    place = place ? place + here * number(apart) : here;
    apart *= x->shape[axis].value();
  }
  return place;
}

}  // namespace

MaxPooled max_over_windows(UOp x, const std::vector<WindowAxis>& sliding, UOp given) {
  UOp w = taps_last(windows(x, sliding, given), sliding.size()), inside = valid_mask(x, sliding);
  const auto axis = static_cast<int64_t>(w->rank()) - 1;
  if (inside) {
    inside = broadcast_to(taps_last(inside, sliding.size()), w->shape);
    w = where(inside, w, like(w, reduction_identity(Combine::Max, w->dtype)));
  }
  // The first largest element takes the gradient (SEMANTICS G7). Taps are few: 32-bit positions have as many lanes as
  // float32. A plan that needs no position computes none. A plan that trains shares this node with a metric under
  // no_grad (N5).
  UOp place = cast(position(w->shape, axis, w->device), DType::I32);
  if (inside) place = where(inside, place, like(place, reduction_identity(Combine::ArgMax, DType::I32, 1)));
  const UOp pairs[] = {w, place};
  return {reduce(Combine::ArgMax, pairs, {axis}, 0),
          position_of_tap(reduce(Combine::ArgMax, pairs, {axis}, 1), x, sliding)};
}

UOp mean_over_windows(UOp x, const std::vector<WindowAxis>& sliding, UOp given, bool count_padding,
                      std::optional<int64_t> divisor) {
  const UOp w = windows(x, sliding, given);
  const Ints taps = tap_axes(w, sliding.size());
  const UOp total = reduce(Combine::Add, w, taps);
  if (divisor) return total / static_cast<double>(*divisor);
  double all = 1;
  for (const WindowAxis& s : sliding) all *= static_cast<double>(s.kernel);
  const UOp counted = count_padding ? counted_mask(x, sliding) : valid_mask(x, sliding);
  if (!counted) return total / all;
  return total / broadcast_to(reduce(Combine::Add, cast(counted, x->dtype), taps), total->shape);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// The windows over the last axes of x. With ceil_mode the last one may reach beyond the padding; it is left out if it
/// begins there.
std::vector<WindowAxis> pooling_axes(UOp x, size_t axes, const PerAxis& kernel, const PerAxis& stride,
                                     const PerAxis& padding, const PerAxis& dilation, bool ceil_mode) {
  std::vector<WindowAxis> out = window_axes(axes, kernel.numbers(), stride, padding, dilation, ZeroStride::Kernel);
  for (size_t i = 0; i < axes; ++i) {
    WindowAxis& s = out[i];
    if (s.padding > s.span() / 2)
      usage_error(
          "padding {} is more than half of the kernel, which covers {}: a window would see nothing else; "
          "give at most {}",
          s.padding, s.span(), s.span() / 2);
    const auto axis = static_cast<int64_t>(x->rank() - axes + i);
    const int64_t size = fixed_size(x, axis, "seen through windows"), room = s.padded(size);
    if (!ceil_mode || s.span() >= room + s.stride) continue;
    const int64_t last = round_up(room - s.span(), s.stride);  // begin of the last window
    if (last < size + s.padding) s.more_after = std::max<int64_t>(0, last + s.span() - room);
  }
  return out;
}

std::pair<Tensor, Tensor> max_pool(std::string_view name, size_t axes, const Arg& input, const PerAxis& kernel,
                                   const MaxPoolOptions& o) {
  Call call(name, input.where());
  const UOp given = operand(input), x = with_batch_axis(given, axes);
  const auto sliding = pooling_axes(x, axes, kernel, o.stride, o.padding, o.dilation, o.ceil_mode);
  const MaxPooled y = max_over_windows(x, sliding, given);
  return {unbatched(y.value, given, x), unbatched(y.place, given, x)};
}

Tensor avg_pool(std::string_view name, size_t axes, const Arg& input, const PerAxis& kernel, const AvgPoolOptions& o) {
  Call call(name, input.where());
  const UOp given = float_operand(input), x = to_compute_type(with_batch_axis(given, axes));
  const auto sliding = pooling_axes(x, axes, kernel, o.stride, o.padding, 1, o.ceil_mode);
  if (o.divisor_override == 0)
    usage_error("divisor_override is 0, by which nothing can be divided; give another number, or none");
  const UOp y = mean_over_windows(x, sliding, given, o.count_include_pad, o.divisor_override);
  return unbatched(cast(y, given->dtype), given, x);
}

Tensor lp_pool(std::string_view name, size_t axes, const Arg& input, double p, const PerAxis& kernel,
               const LpPoolOptions& o) {
  Call call(name, input.where());
  const UOp given = float_operand(input), x = to_compute_type(with_batch_axis(given, axes));
  if (!(std::abs(p) > 0)) usage_error("p is {}; the root of that order does not exist, give another", p);
  const auto sliding = pooling_axes(x, axes, kernel, o.stride, 0, 1, o.ceil_mode);
  // As in PyTorch, a window that ceil_mode cuts off stands for a whole one.
  double taps = 1;
  for (const WindowAxis& s : sliding) taps *= static_cast<double>(s.kernel);
  const UOp mean = mean_over_windows(node_of(pow(wrap(x), p)), sliding, given, true, {});
  const Tensor total = wrap(mean * taps), positive = sign(total) * relu(abs(total));
  const UOp root = node_of(pow(positive, 1.0 / p));
  return unbatched(cast(root, given->dtype), given, x);
}

}  // namespace

Tensor max_pool1d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool1d", 1, x, kernel, options).first;
}
Tensor max_pool2d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool2d", 2, x, kernel, options).first;
}
Tensor max_pool3d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool3d", 3, x, kernel, options).first;
}
std::pair<Tensor, Tensor> max_pool1d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool1d_with_indices", 1, x, kernel, options);
}
std::pair<Tensor, Tensor> max_pool2d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool2d_with_indices", 2, x, kernel, options);
}
std::pair<Tensor, Tensor> max_pool3d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return max_pool("max_pool3d_with_indices", 3, x, kernel, options);
}
Tensor avg_pool1d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool("avg_pool1d", 1, x, kernel, options);
}
Tensor avg_pool2d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool("avg_pool2d", 2, x, kernel, options);
}
Tensor avg_pool3d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options) {
  return avg_pool("avg_pool3d", 3, x, kernel, options);
}
Tensor lp_pool1d(Arg x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return lp_pool("lp_pool1d", 1, x, p, kernel, options);
}
Tensor lp_pool2d(Arg x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return lp_pool("lp_pool2d", 2, x, p, kernel, options);
}

}  // namespace v0
}  // namespace sinter
