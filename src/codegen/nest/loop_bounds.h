// Loop bounds from predicates: conjunctions of bounds on sums of indices, as of a padded window, become the ends of a
// loop.
#pragma once

#include <functional>
#include <vector>

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// The values of a range that are at least all of `from` and below all of `to`. Within the range these are exactly the
/// values for which `conditions`, of dtype bool, hold.
struct LoopBounds {
  std::vector<UOp> from, to;  ///< dtype Index; without those that never bind
  std::vector<UOp> conditions;
  bool empty = false;  ///< whether the loop may have no iterations
};

/// Solves those operands of the conjunction `predicate` that bound a sum of indices in which the range has a constant
/// stride. `known`: whether a node is invariant in the loop.
LoopBounds solve_bounds(UOp predicate, UOp range, const std::function<bool(UOp)>& known);

}  // namespace sinter::codegen
