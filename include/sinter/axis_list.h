// Which axes a call reduces, moves or squeezes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/shape.h"

namespace sinter::inline v0 {

/// Every axis, in a call that takes axes: x.sum(all_axes, true).
struct AllAxes {};
inline constexpr AllAxes all_axes{};  ///< the default of such a call

/// Axes of a reduction; negative ones count from the end.
class Axes {
 public:
  Axes(AllAxes) {}  ///< all  NOLINT: implicit by design, as the others
  /// One axis.
  template <Integer I>
  Axes(I axis) : list_(std::vector<int64_t>{saturated(axis)}) {}  // NOLINT
  // No default constructor, so that {} is a list too.
  Axes(std::initializer_list<int64_t> axes) : list_(axes) {}   ///< several, each once; {} reduces nothing
  Axes(std::vector<int64_t> axes) : list_(std::move(axes)) {}  ///< the same  NOLINT
  /// Whether these are all axes of the tensor.
  bool all() const { return !list_.has_value(); }
  /// The axes as given; only if a list was given.
  const std::vector<int64_t>& list() const { return *list_; }

 private:
  std::optional<std::vector<int64_t>> list_;
};

}  // namespace sinter::inline v0
