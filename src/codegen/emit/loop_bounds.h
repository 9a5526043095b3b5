// Which part of a loop a condition leaves: conjunctions of bounds on sums of indices, such as those of a padded window,
// become its ends.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace sinter::codegen {

/// The values of a range that are at least all of `from` and below all of `to`: among those of the range, exactly where
/// `conditions`, of dtype bool, hold.
struct LoopBounds {
  std::vector<ir::UOp> from, to;  ///< dtype Index; none that never binds
  std::vector<ir::UOp> conditions;
  bool empty = false;  ///< whether no value may be left
};

/// Of those operands of the conjunction `predicate` that say where a sum of indices lies and change with the range by a
/// fixed distance. `known`: whether a node has one value for all of the loop.
LoopBounds solve_bounds(ir::UOp predicate, ir::UOp range, const std::function<bool(ir::UOp)>& known);

}  // namespace sinter::codegen
