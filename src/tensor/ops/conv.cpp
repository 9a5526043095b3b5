// Convolution: windows of x times the weight, elementwise, then one sum; transposed: the products summed where windows
// overlap. No kernel is written by hand; codegen recognizes the contraction.
#include "sinter/conv.h"

#include <algorithm>
#include <limits>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/padding.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/windows.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

void check_channels(UOp x, UOp weight, UOp bias, int64_t groups) {
  const Dim &in = x->shape[1], &out = weight->shape[0], &each = weight->shape[1];
  if (groups < 1) usage_error("groups is {}; it must be at least 1", groups);
  if (out.value() % groups)
    usage_error("the weight {} has {} output channels, which {} groups do not divide; choose a divisor",
                describe(weight), to_string(out), groups);
  fixed_size(x, 1, "an axis of channels");
  if (in.value() % groups || in.value() / groups != each.value())
    usage_error("{} has {} channels, but the weight {} takes {} in each of {} {}; together they must be equal",
                describe(x), to_string(in), describe(weight), to_string(each), groups,
                groups == 1 ? "group" : "groups");
  if (bias && !(bias->shape == Shape{out}))
    usage_error("the bias is {}, the output has {} channels; give one number for each", describe(bias), to_string(out));
}

/// The tensors of a call, in one type and on one device.
struct ConvOperands {
  DType type;
  UOp given, x;      ///< as the user gave it, and with a batch axis
  UOp weight, bias;  ///< bias may be null
  Ints kernel;       ///< sizes along the sliding axes
};

ConvOperands conv_operands(size_t sliding, const Arg& input, const Tensor& weight, const Tensor& bias,
                           const char* layout) {
  const Arg w_arg(weight, input.where()), b_arg(bias.defined() ? bias : weight, input.where());
  ConvOperands c;
  c.type = common_type({&input, &w_arg, &b_arg});
  c.given = operand(input, c.type);
  c.x = with_batch_axis(c.given, sliding);
  c.weight = on_device(operand(w_arg, c.type), c.x->device, c.given->shape);
  if (bias.defined()) c.bias = on_device(operand(b_arg, c.type), c.x->device, c.given->shape);
  if (c.weight->rank() != sliding + 2)
    usage_error("the weight {} has {} axes; give [{}, {}]", describe(c.weight), c.weight->rank(), layout,
                sliding == 1   ? "kernel"
                : sliding == 2 ? "kernel, kernel"
                               : "kernel, kernel, kernel");
  fixed_size(c.weight, 0, "a number of channels");
  fixed_size(c.weight, 1, "a number of channels");
  for (size_t i = 2; i < c.weight->rank(); ++i)
    c.kernel.push_back(fixed_size(c.weight, static_cast<int64_t>(i), "a kernel's size"));
  return c;
}

/// y with the groups' channels, axes 1 and 2, joined, plus the bias, in the type of the call.
Tensor finish(const ConvOperands& c, UOp y, int64_t out) {
  Shape joined{y->shape[0], out};
  for (size_t i = 3; i < y->rank(); ++i) joined.push_back(y->shape[i]);
  y = reshape(y, joined);
  if (c.bias) y = y + expand(to_compute_type(c.bias), joined, others(joined.rank(), {1}));
  y = cast(y, c.type);
  return unbatched(y, c.given, c.x);
}

/// Replaces padding that is no zeros around every window of x by elements of x; `slide` then has none.
UOp pad_input(UOp x, std::vector<WindowAxis>& slide, PadMode mode) {
  if (mode == PadMode::Constant) return x;
  for (size_t i = 0; i < slide.size(); ++i) {
    WindowAxis& s = slide[i];
    x = pad_from_itself(x, static_cast<int64_t>(2 + i), s.padding, s.padding + s.more_after, mode);
    s.padding = s.more_after = 0;
  }
  return x;
}

/// The windows of a convolution: numbers of padding, or those that its name means.
std::vector<WindowAxis> conv_axes(size_t sliding, const Ints& kernel, const ConvOptions& o) {
  const std::string& name = o.padding.name();
  if (!name.empty() && name != "same" && name != "valid")
    usage_error("padding is \"{}\"; give numbers, \"same\" or \"valid\"", name);
  auto slide = window_axes(sliding, kernel, o.stride, o.padding, o.dilation);
  if (name != "same") return slide;
  for (WindowAxis& s : slide) {
    if (s.stride != 1)
      usage_error(
          "padding \"same\" with stride {}: there are fewer outputs than elements; give stride 1, or "
          "numbers of padding",
          s.stride);
    const int64_t more = s.span() - 1;
    s.padding = more / 2;
    s.more_after = more % 2;
  }
  return slide;
}

Tensor conv(std::string_view name, size_t sliding, const Arg& input, const Tensor& weight, const Tensor& bias,
            const ConvOptions& o) {
  Call call(name, input.where());
  const ConvOperands c = conv_operands(sliding, input, weight, bias, "out, in / groups");
  const UOp given = c.given, w = c.weight;
  const Ints& kernel = c.kernel;
  check_channels(c.x, w, c.bias, o.groups);
  const int64_t out = w->shape[0].value(), in = w->shape[1].value(), groups = o.groups;
  auto slide = conv_axes(sliding, kernel, o);
  const UOp x = pad_input(c.x, slide, o.padding_mode);

  // Both are broadcast to [n, group, out, in, windows, taps, ...]: x has no output channels, w no batch and no windows.
  Shape grouped{x->shape[0], groups, in}, weights{groups, out / groups, in};
  Ints over_windows;
  for (size_t i = 0; i < sliding; ++i) {
    grouped.push_back(x->shape[2 + i]);
    weights.push_back(kernel[i]);
    over_windows.push_back(static_cast<int64_t>(4 + 2 * i));
  }
  UOp image = x, filter = w;
  as_factors(image, filter);
  UOp seen = windows(reshape(image, grouped), slide, x == c.x ? given : x);
  const Shape shape(with_axes(seen->shape.dims(), {2}, [&](int64_t) { return Dim(out / groups); }));
  check_shape(shape);
  seen = expand(seen, shape, {2});
  Ints summed = tap_axes(seen, sliding);
  summed.insert(summed.begin(), 3);
  const UOp y = reduce(addition_of(c.type), seen * broadcast_to(reshape(filter, weights), shape, over_windows), summed);
  return finish(c, y, out);
}

/// The sizes of a transposed convolution's result.
Ints transposed_sizes(UOp x, const std::vector<WindowAxis>& slide, const PerAxis& output_padding) {
  const Ints more = per_axis("output_padding", output_padding.numbers(), slide.size(), 0);
  Ints sizes;
  for (size_t i = 0; i < slide.size(); ++i) {
    const WindowAxis& s = slide[i];
    const auto axis = static_cast<int64_t>(2 + i);
    const int64_t have = fixed_size(x, axis, "spread to windows");
    if (more[i] >= std::max(s.stride, s.dilation))
      usage_error("output_padding is {}; it must be less than the stride {} or the dilation {}", more[i], s.stride,
                  s.dilation);
    Shape widest = x->shape;
    int64_t apart = 0;
    widest[axis] = __builtin_mul_overflow(have - 1, s.stride, &apart)
                       ? std::numeric_limits<int64_t>::max()
                       : saturating_add(std::max<int64_t>(apart, 0), saturating_add(s.span(), more[i]));
    check_shape(widest);
    const int64_t size = apart + s.span() + more[i] - 2 * s.padding;
    if (have < 1 || size < 1)
      usage_error("axis {} of {} has {} elements, whose windows of {} with padding {} leave {}; less padding is needed",
                  axis, describe(x), have, s.span(), s.padding, size);
    sizes.push_back(size);
  }
  return sizes;
}

/// The graph that the gradient of conv() has for its argument.
Tensor transposed(std::string_view name, size_t sliding, const Arg& input, const Tensor& weight, const Tensor& bias,
                  const ConvTransposeOptions& o) {
  Call call(name, input.where());
  const ConvOperands c = conv_operands(sliding, input, weight, bias, "in, out / groups");
  const UOp x = c.x, w = c.weight;
  const int64_t in = w->shape[0].value(), each = w->shape[1].value(), groups = o.groups;
  if (groups < 1 || in % groups || !(x->shape[1] == in))
    usage_error(
        "{} has {} channels, but the weight {} takes {} in {} {}; the channels must be equal, and the "
        "groups divide them",
        describe(x), to_string(x->shape[1]), describe(w), in, groups, groups == 1 ? "group" : "groups");
  if (c.bias && !(c.bias->shape == Shape{each * groups}))
    usage_error("the bias is {}, the output has {} channels; give one number for each", describe(c.bias),
                each * groups);
  const auto slide = window_axes(sliding, c.kernel, o.stride, o.padding, o.dilation);
  const Ints sizes = transposed_sizes(x, slide, o.output_padding);

  // Both are broadcast to [n, group, in, out, windows, taps, ...]: x has no output channels and no taps.
  Shape shape{x->shape[0], groups, in / groups, each}, grouped{x->shape[0], groups, in / groups},
      weights{groups, in / groups, each};
  Ints of_x{3}, of_weights{0};
  for (size_t i = 0; i < sliding; ++i) {
    of_weights.push_back(static_cast<int64_t>(shape.rank()));
    shape.push_back(x->shape[2 + i]);
    of_x.push_back(static_cast<int64_t>(shape.rank()));
    shape.push_back(c.kernel[i]);
    grouped.push_back(x->shape[2 + i]);
    weights.push_back(c.kernel[i]);
  }
  check_shape(shape);
  UOp image = x, filter = w;
  as_factors(image, filter);
  const UOp products =
      expand(reshape(image, grouped), shape, of_x) * expand(reshape(filter, weights), shape, of_weights);
  return finish(c, tensor::overlap_add(reduce(addition_of(c.type), products, {2}), slide, sizes), each * groups);
}

}  // namespace

Tensor conv1d(Arg x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv("conv1d", 1, x, weight, bias, options);
}
Tensor conv2d(Arg x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv("conv2d", 2, x, weight, bias, options);
}
Tensor conv3d(Arg x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv("conv3d", 3, x, weight, bias, options);
}
Tensor conv_transpose1d(Arg x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed("conv_transpose1d", 1, x, weight, bias, options);
}
Tensor conv_transpose2d(Arg x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed("conv_transpose2d", 2, x, weight, bias, options);
}
Tensor conv_transpose3d(Arg x, const Tensor& weight, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed("conv_transpose3d", 3, x, weight, bias, options);
}

}  // namespace sinter::inline v0
