// Convolution: functions of a window that slides over the last axes of a tensor. Layouts, names and sizes are
// PyTorch's: [n, c, length], [n, c, height, width] or [n, c, depth, height, width]; the batch axis n is optional. The
// number of outputs along an axis is (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sinter/by_name.h"
#include "sinter/padding.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// A number per sliding axis, outermost first, or one for all of them: `2` or `{2, 1}`.
class PerAxis {
 public:
  /// The same along each axis.
  template <Integer I>
  PerAxis(I all) : numbers_{saturated(all)} {}  // NOLINT: implicit by design
  PerAxis(std::initializer_list<int64_t> numbers) : numbers_(numbers) {}
  /// As given.
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  std::vector<int64_t> numbers_;
};

/// The padding of a convolution: numbers, or PyTorch's names. "same": as many outputs as elements, with an odd zero at
/// the end; needs stride 1. "valid": none.
class ConvPadding : public PerAxis {
 public:
  /// The same along each axis.
  template <Integer I>
  ConvPadding(I all) : PerAxis(all) {}  // NOLINT: implicit by design, as the others
  ConvPadding(std::initializer_list<int64_t> numbers) : PerAxis(numbers) {}  ///< one for each axis
  ConvPadding(const PerAxis& numbers) : PerAxis(numbers) {}                  ///< numbers  NOLINT
  ConvPadding(const char* name) : PerAxis(0), name_(name) {}                 ///< "same" or "valid"  NOLINT
  const std::string& name() const { return name_; }                          ///< empty for numbers

 private:
  std::string name_;
};

/// @defgroup convolution Convolution
/// Computed in the common type of the operands. Sizes that do not fit are a UsageError.
/// @snippet convolution.cpp convolution
/// @{

/// Options of conv1d(), conv2d() and conv3d().
struct ConvOptions {
  ByName by_name{};  ///< no value
  PerAxis stride = 1;
  ConvPadding padding = 0;  ///< before and after
  PerAxis dilation = 1;     ///< distance between adjacent elements of a window
  int64_t groups = 1;       ///< input and output channels are split into this many independent parts
  Choice<PadMode> padding_mode = PadMode::Constant;  ///< zeros, or elements of x as in pad()
};
/// x: [n, c, length], weight: [out, c / groups, kernel], bias: [out]; y: [n, out, windows].
Tensor conv1d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// The same without a bias, as the next two: conv1d(x, weight, {.padding = 1}).
inline Tensor conv1d(Arg x, const Tensor& weight, const ConvOptions& options) { return conv1d(x, weight, {}, options); }
/// x: [n, c, h, w], weight: [out, c / groups, kh, kw], bias: [out]; y: [n, out, windows, windows].
Tensor conv2d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// Without a bias.
inline Tensor conv2d(Arg x, const Tensor& weight, const ConvOptions& options) { return conv2d(x, weight, {}, options); }
/// x: [n, c, d, h, w], weight: [out, c / groups, kd, kh, kw], bias: [out]; y: [n, out, windows, windows, windows].
Tensor conv3d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// Without a bias.
inline Tensor conv3d(Arg x, const Tensor& weight, const ConvOptions& options) { return conv3d(x, weight, {}, options); }

/// Options of conv_transpose1d(), conv_transpose2d() and conv_transpose3d().
struct ConvTransposeOptions {
  ByName by_name{};  ///< no value
  PerAxis stride = 1;
  PerAxis padding = 0;         ///< elements dropped at both ends
  PerAxis output_padding = 0;  ///< elements more at the end; less than the stride or the dilation
  int64_t groups = 1;
  PerAxis dilation = 1;
};
/// What the gradient of conv1d() with these options does to its argument. x: [n, c, length], weight: [c, out / groups,
/// kernel], bias: [out]; y: [n, out, (length - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1].
Tensor conv_transpose1d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvTransposeOptions& options = {});
/// The same without a bias, as the next two: conv_transpose1d(x, weight, {.stride = 2}).
inline Tensor conv_transpose1d(Arg x, const Tensor& weight, const ConvTransposeOptions& options) {
  return conv_transpose1d(x, weight, {}, options);
}
/// The same of conv2d(). x: [n, c, h, w], weight: [c, out / groups, kh, kw].
Tensor conv_transpose2d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvTransposeOptions& options = {});
/// Without a bias.
inline Tensor conv_transpose2d(Arg x, const Tensor& weight, const ConvTransposeOptions& options) {
  return conv_transpose2d(x, weight, {}, options);
}
/// The same of conv3d(). x: [n, c, d, h, w], weight: [c, out / groups, kd, kh, kw].
Tensor conv_transpose3d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvTransposeOptions& options = {});
/// Without a bias.
inline Tensor conv_transpose3d(Arg x, const Tensor& weight, const ConvTransposeOptions& options) {
  return conv_transpose3d(x, weight, {}, options);
}

/// Options of unfold() and fold(), as those of a convolution.
struct UnfoldOptions {
  ByName by_name{};  ///< no value
  PerAxis dilation = 1;
  PerAxis padding = 0;  ///< zeros
  PerAxis stride = 1;
};
/// The windows of x, [n, c, h, w], as columns: [n, c * kh * kw, windows], both row-major. The batch axis is optional.
Tensor unfold(Arg x, const PerAxis& kernel, const UnfoldOptions& options = {});
/// The adjoint of unfold(): x, [n, c * kh * kw, windows], summed where windows overlap, to [n, c, size, size].
Tensor fold(Arg x, const PerAxis& size, const PerAxis& kernel, const UnfoldOptions& options = {});
/// @}

}  // namespace sinter::inline v0
