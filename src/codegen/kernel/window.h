// Windows: pairs of ranges that a value depends on through one sum only, such as row + tap of a convolution, or
// row - tap of its gradient by the image.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "codegen/kernel/ranges.h"

namespace sinter::codegen {

/// Positions step * along + dilation * tap + first(). The step is positive, and one of the two factors is 1 or -1.
struct Window {
  UOp along, taps;
  int64_t step = 1, dilation = 1;
  /// Positions of `values` neighbors along `along`, with `taps` taps each.
  int64_t extent(int64_t values) const { return step * (values - 1) + std::abs(dilation) * last_tap() + 1; }
  /// The position of value 0 and tap 0: that of the last tap is 0 where taps go backwards.
  int64_t first() const { return dilation < 0 ? -dilation * last_tap() : 0; }
  int64_t last_tap() const { return max_trip_count(taps) - 1; }
  friend bool operator==(const Window&, const Window&) = default;
};

/// The window of a value along two ranges of known sizes. Empty if it depends on one of them in another way than
/// through such a sum.
std::optional<Window> window_of(UOp value, UOp along, UOp taps, FreeRanges& ranges);

/// The value as a function of a position: `position` in place of the sum.
UOp at_position(ir::Graph& g, UOp value, const Window& window, UOp position);

/// step * along + dilation * taps
UOp position_of(ir::Graph& g, const Window& window);

}  // namespace sinter::codegen
