// Sliding windows for convolution and pooling: checked options, and the view.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/build.h"
#include "sinter/conv.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {

/// Options of a window along one axis.
struct WindowAxis {
  int64_t kernel, stride, padding, dilation;
  int64_t more_after = 0;  ///< padding behind the axis beyond `padding`
  /// The size of an axis with its padding; the largest int64 on overflow.
  int64_t padded(int64_t size) const {
    return saturating_add(saturating_add(size, padding), saturating_add(padding, more_after));
  }
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
/// One number per axis, each at least `least`; otherwise UsageError, with the option's name.
ir::Ints per_axis(std::string_view name, const std::vector<int64_t>& numbers, size_t axes, int64_t least);
/// The options of `axes` sliding axes. UsageError for a wrong number of values, or for one that is too small.
std::vector<WindowAxis> window_axes(size_t axes, const std::vector<int64_t>& kernel, const PerAxis& stride,
                                    const PerAxis& padding, const PerAxis& dilation,
                                    ZeroStride zero = ZeroStride::Refused);

/// What messages call the sliding axes: "height, width".
std::string_view sliding_names(size_t sliding);

/// x with a batch axis: [batch, channels, sliding axes]. UsageError unless x is that, with or without the batch axis.
ir::UOp with_batch_axis(ir::UOp x, size_t sliding);

/// y without its batch axis, if with_batch_axis() made x from `given` by adding one.
Tensor unbatched(ir::UOp y, ir::UOp given, ir::UOp x);

/// Splits each of the last axes of x, padded with zeros, in two: [.., windows, taps, windows, taps]. UsageError if no
/// window fits or a size is symbolic. Errors name `given`, the user's tensor, which has the same last axes.
ir::UOp windows(ir::UOp x, const std::vector<WindowAxis>& sliding, ir::UOp given);

/// A bool mask in the windows' shape, with leading axes of size 1: true for elements that are not padding. Null without
/// padding.
ir::UOp valid_mask(ir::UOp x, const std::vector<WindowAxis>& sliding);

/// The same when padding of the options counts as valid, and only `more_after` does not. Null without any.
ir::UOp counted_mask(ir::UOp x, const std::vector<WindowAxis>& sliding);

/// The adjoint of windows(): the taps of x, [.., windows, taps, windows, taps], summed where they overlap, to `sizes`
/// elements along each sliding axis. Elements that no tap reaches are zero; those in the padding are dropped.
ir::UOp overlap_add(ir::UOp x, const std::vector<WindowAxis>& sliding, const ir::Ints& sizes);

/// The tap axes of windows(x), for `sliding` axes.
ir::Ints tap_axes(ir::UOp windows, size_t sliding);

}  // namespace sinter::tensor
