// Sliding windows as convolution and pooling read them: what was asked for, checked, and the view.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/build.h"
#include "sinter/conv.h"

namespace sinter::tensor {

/// How windows slide along one axis.
struct WindowAxis {
  int64_t kernel, stride, padding, dilation;
  /// Elements from the first tap to the last, both included; the largest int64 if they are more.
  int64_t span() const {
    int64_t apart = 0;
    const bool over = __builtin_mul_overflow(kernel - 1, dilation, &apart) || __builtin_add_overflow(apart, 1, &apart);
    return over ? std::numeric_limits<int64_t>::max() : apart;
  }
};

/// What a stride of 0 is along an axis.
enum class ZeroStride : uint8_t {
  Refused,
  Kernel  ///< the kernel's size there
};
/// The options of `axes` sliding axes. UsageError when there is a wrong number of them, or one that is too small.
std::vector<WindowAxis> window_axes(size_t axes, const std::vector<int64_t>& kernel, const PerAxis& stride,
                                    const PerAxis& padding, const PerAxis& dilation,
                                    ZeroStride zero = ZeroStride::Refused);

/// x with a batch axis: `channels` and sliding axes behind it. UsageError unless x has them, with or without the batch.
ir::UOp with_batch_axis(ir::UOp x, size_t sliding);

/// Each of the last axes of x, padded with zeros, as two: [.., windows, taps, windows, taps]. UsageError when no window
/// fits, or when the size is symbolic; it speaks of `given`, the user's tensor, which ends in the same axes.
ir::UOp windows(ir::UOp x, const std::vector<WindowAxis>& sliding, ir::UOp given);

/// bool, of the windows' shape with leading axes of size 1: the elements that are not padding. Null if there is none.
ir::UOp valid_mask(ir::UOp x, const std::vector<WindowAxis>& sliding);

/// The axes of the taps of windows(x) with so many sliding axes.
ir::Ints tap_axes(ir::UOp windows, size_t sliding);

}  // namespace sinter::tensor
