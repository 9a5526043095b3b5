// Convolution and pooling: functions of a window that slides over the last axes of a tensor. Layouts, names and sizes
// are PyTorch's: [n, c, length] or [n, c, height, width], the batch axis n may be missing, and of n outputs along an
// axis there are (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// A number per sliding axis, outermost first; a single one stands for all of them: `2` or `{2, 1}`.
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
/// In the common type of the operands. Sizes that do not fit are a UsageError.
/// @snippet convolution.cpp convolution
/// @{

/// Of conv1d() and conv2d().
struct ConvOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;   ///< zeros before and behind
  PerAxis dilation = 1;  ///< how far apart a window's elements lie
  int64_t groups = 1;    ///< channels in and out are cut into so many parts that do not meet
};
/// x: [n, c, length], weight: [out, c / groups, kernel], bias: [out]; y: [n, out, windows].
Tensor conv1d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
/// x: [n, c, h, w], weight: [out, c / groups, kh, kw], bias: [out]; y: [n, out, windows, windows].
Tensor conv2d(Arg x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});

/// Of max_pool2d().
struct MaxPoolOptions {
  PerAxis stride = 0;   ///< 0, along any axis: the kernel's size there
  PerAxis padding = 0;  ///< at most half of the kernel; never the largest
  PerAxis dilation = 1;
};
/// The largest of each window; NaN if one is. Among equal ones the first takes the gradient.
Tensor max_pool2d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});

/// Of avg_pool2d().
struct AvgPoolOptions {
  PerAxis stride = 0;             ///< 0, along any axis: the kernel's size there
  PerAxis padding = 0;            ///< at most half of the kernel; zeros
  bool count_include_pad = true;  ///< whether padding counts in the number that the sum is divided by
};
/// The mean of each window; integers in float32.
Tensor avg_pool2d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options = {});
/// @}

}  // namespace v0
}  // namespace sinter
