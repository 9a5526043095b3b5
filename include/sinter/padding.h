// Padding whose elements come from the tensor itself. Tensor::pad() pads with a number.
#pragma once

#include <utility>
#include <vector>

#include "sinter/choice.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup padding Padding
/// @snippet convolution.cpp padding
/// @{

/// What stands beyond the ends of an axis.
enum class PadMode : uint8_t {
  Constant,   ///< a number
  Reflect,    ///< the elements in front of the end, mirrored at the last one, which is not repeated
  Replicate,  ///< the last element
  Circular    ///< the elements from the other end
};
/// x with {before, after} more elements per axis. If fewer pairs are given than axes, they are for the last axes.
/// `value` is for PadMode::Constant. UsageError if an axis has too few elements: Reflect needs one more than a width,
/// Circular as many, Replicate one. PyTorch's flat list of widths begins with the last axis.
Tensor pad(Arg x, const std::vector<std::pair<int64_t, int64_t>>& widths, Choice<PadMode> mode = PadMode::Constant,
           Arg value = 0.0);
/// The same with a number: Tensor::pad.
inline Tensor pad(Arg x, const std::vector<std::pair<int64_t, int64_t>>& widths, Arg value) {
  return pad(x, widths, PadMode::Constant, value);
}
/// @}

}  // namespace sinter::inline v0
