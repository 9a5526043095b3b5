// Convolution and pooling: functions of a window that slides over the last axes of a tensor. Layouts, names and sizes
// are PyTorch's: [n, c, length] or [n, c, height, width]; the batch axis n is optional. The number of outputs along an
// axis is (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

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

/// @defgroup convolution Convolution and pooling
/// Computed in the common type of the operands. Sizes that do not fit are a UsageError.
/// @snippet convolution.cpp convolution
/// @{

/// Options of conv1d() and conv2d().
struct ConvOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;   ///< zeros before and after
  PerAxis dilation = 1;  ///< distance between adjacent elements of a window
  int64_t groups = 1;    ///< input and output channels are split into this many independent parts
};
/// x: [n, c, length], weight: [out, c / groups, kernel], bias: [out]; y: [n, out, windows].
Tensor conv1d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// x: [n, c, h, w], weight: [out, c / groups, kh, kw], bias: [out]; y: [n, out, windows, windows].
Tensor conv2d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});

/// Options of max_pool2d().
struct MaxPoolOptions {
  PerAxis stride = 0;   ///< 0: the kernel's size along that axis
  PerAxis padding = 0;  ///< at most half of the kernel; never the maximum
  PerAxis dilation = 1;
};
/// The largest element of each window; NaN if any is. Among equal elements the first takes the gradient.
Tensor max_pool2d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});

/// Options of avg_pool2d().
struct AvgPoolOptions {
  PerAxis stride = 0;             ///< 0: the kernel's size along that axis
  PerAxis padding = 0;            ///< at most half of the kernel; zeros
  bool count_include_pad = true;  ///< whether the divisor counts padding
};
/// The mean of each window. Integers are computed in float32.
Tensor avg_pool2d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options = {});
/// @}

}  // namespace v0
}  // namespace sinter
