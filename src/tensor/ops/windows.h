// Sliding windows for convolution and pooling: checked options, and the view.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/build.h"
#include "sinter/conv.h"

namespace sinter::tensor {

/// Options of a window along one axis.
struct WindowAxis {
  int64_t kernel, stride, padding, dilation;
  /// Elements from the first tap to the last, inclusive; the largest int64 on overflow.
  int64_t span() const {
    int64_t apart = 0;
    const bool over = __builtin_mul_overflow(kernel - 1, dilation, &apart) || __builtin_add_overflow(apart, 1, &apart);
    return over ? std::numeric_limits<int64_t>::max() : apart;
  }
};

/// The meaning of a stride of 0.
enum class ZeroStride : uint8_t {
  Refused,
  Kernel  ///< the kernel's size along that axis
};
/// The options of `axes` sliding axes. UsageError for a wrong number of values, or for one that is too small.
std::vector<WindowAxis> window_axes(size_t axes, const std::vector<int64_t>& kernel, const PerAxis& stride,
                                    const PerAxis& padding, const PerAxis& dilation,
                                    ZeroStride zero = ZeroStride::Refused);

/// x with a batch axis: [batch, channels, sliding axes]. UsageError unless x is that, with or without the batch axis.
ir::UOp with_batch_axis(ir::UOp x, size_t sliding);

/// Splits each of the last axes of x, padded with zeros, in two: [.., windows, taps, windows, taps]. UsageError if no
/// window fits or a size is symbolic. Errors name `given`, the user's tensor, which has the same last axes.
ir::UOp windows(ir::UOp x, const std::vector<WindowAxis>& sliding, ir::UOp given);

/// A bool mask in the windows' shape, with leading axes of size 1: true for elements that are not padding. Null without
/// padding.
ir::UOp valid_mask(ir::UOp x, const std::vector<WindowAxis>& sliding);

/// The tap axes of windows(x), for `sliding` axes.
ir::Ints tap_axes(ir::UOp windows, size_t sliding);

}  // namespace sinter::tensor
