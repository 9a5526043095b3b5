// Convolution: windows of x times the weight, elementwise, then one sum. No kernel is written by hand; codegen
// recognizes the contraction.
#include "sinter/conv.h"

#include <fmt/format.h>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/windows.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::usage_error;
using tensor::wrap;

void check_channels(UOp x, UOp weight, UOp bias, int64_t groups) {
  const Dim &in = x->shape[1], &out = weight->shape[0], &each = weight->shape[1];
  if (groups < 1) usage_error(fmt::format("groups is {}; it must be at least 1", groups));
  if (out.value() % groups)
    usage_error(fmt::format("the weight {} has {} output channels, which {} groups do not divide; choose a divisor",
                            describe(weight), to_string(out), groups));
  tensor::fixed_size(x, 1, "an axis of channels");
  if (in.value() % groups || in.value() / groups != each.value())
    usage_error(fmt::format(
        "{} has {} channels, but the weight {} takes {} in each of {} {}; together they must be equal", describe(x),
        to_string(in), describe(weight), to_string(each), groups, groups == 1 ? "group" : "groups"));
  if (bias && !(bias->shape == Shape{out}))
    usage_error(fmt::format("the bias is {}, the output has {} channels; give one number for each", describe(bias),
                            to_string(out)));
}

Tensor conv(std::string_view name, size_t sliding, const Arg& input, const Tensor& weight, const Tensor& bias,
            const ConvOptions& o) {
  Call call(name, input.where());
  const Arg w_arg(weight, input.where()), b_arg(bias.defined() ? bias : weight, input.where());
  const DType t = tensor::common_type({&input, &w_arg, &b_arg});
  const UOp given = tensor::operand(input, t), x = tensor::with_batch_axis(given, sliding);
  const UOp w = tensor::on_device(tensor::operand(w_arg, t), x->device, given->shape),
            b = bias.defined() ? tensor::on_device(tensor::operand(b_arg, t), x->device, given->shape) : UOp();
  if (w->rank() != sliding + 2)
    usage_error(fmt::format("the weight {} has {} axes; give [out, in / groups, {}]", describe(w), w->rank(),
                            sliding == 1 ? "kernel" : "kernel, kernel"));
  const int64_t out = tensor::fixed_size(w, 0, "a number of channels"),
                in = tensor::fixed_size(w, 1, "a number of channels"), groups = o.groups;
  check_channels(x, w, b, groups);
  std::vector<int64_t> kernel;
  for (size_t i = 2; i < w->rank(); ++i)
    kernel.push_back(tensor::fixed_size(w, static_cast<int64_t>(i), "a kernel's size"));
  const auto slide = tensor::window_axes(sliding, kernel, o.stride, o.padding, o.dilation);

  // Both are broadcast to [n, group, out, in, windows, taps, ...]: x has no output channels, w no batch and no windows.
  Shape grouped{x->shape[0], groups, in}, weights{groups, out / groups, in};
  ir::Ints over_windows;
  for (size_t i = 0; i < sliding; ++i) {
    grouped.push_back(x->shape[2 + i]);
    weights.push_back(kernel[i]);
    over_windows.push_back(static_cast<int64_t>(4 + 2 * i));
  }
  UOp seen = tensor::windows(ir::reshape(ir::to_compute_type(x), grouped), slide, given);
  const Shape shape(ir::with_axes(seen->shape.dims(), {2}, [&](int64_t) { return Dim(out / groups); }));
  tensor::check_shape(shape);
  seen = ir::expand(seen, shape, {2});
  ir::Ints summed = tensor::tap_axes(seen, sliding);
  summed.insert(summed.begin(), 3);
  UOp y =
      ir::reduce(tensor::addition_of(t),
                 seen * ir::broadcast_to(ir::reshape(ir::to_compute_type(w), weights), shape, over_windows), summed);
  Shape joined{y->shape[0], out};
  for (size_t i = 3; i < y->rank(); ++i) joined.push_back(y->shape[i]);
  y = ir::reshape(y, joined);
  if (b) y = y + ir::expand(ir::to_compute_type(b), joined, ir::others(joined.rank(), {1}));
  y = ir::cast(y, t);
  return wrap(given->rank() == x->rank() ? y : tensor::drop_axes(y, {0}));
}

}  // namespace

Tensor conv1d(Arg x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv("conv1d", 1, x, weight, bias, options);
}
Tensor conv2d(Arg x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv("conv2d", 2, x, weight, bias, options);
}

}  // namespace v0
}  // namespace sinter
