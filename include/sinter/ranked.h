// What a search along an axis gives.
#pragma once

#include <iosfwd>
#include <tuple>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// Elements, and where they stood along the axis: `auto [values, indices] = sort(x)`.
struct Ranked {
  Tensor values;   ///< the elements, in the type of the operand
  Tensor indices;  ///< int64, of the same shape
  /// For std::tie(values, indices) = sort(x).
  operator std::tuple<Tensor&, Tensor&>() { return {values, indices}; }  // NOLINT: implicit by design
};

/// The values, then the indices.
std::ostream& operator<<(std::ostream& os, const Ranked& ranked);

}  // namespace sinter::inline v0
