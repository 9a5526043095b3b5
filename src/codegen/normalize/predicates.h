// Sums of products that vanish where a condition does not hold: the gradient of a padded or sliding window.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. Where both factors of a product are loads under one predicate, and 0 where it is closed, a
/// load is predicated itself only by what keeps it inside its Param, if that changes with nothing but its index, and
/// selected by the rest: what it loads does not depend on the other ranges of the predicate.
ir::UOp select_by_predicate(ir::Graph& g, ir::UOp sink);

/// The condition under which an element of a sum of products adds anything but +0: both factors are +0 where it does
/// not hold. Null if there is none.
ir::UOp common_predicate(ir::UOp reduce);

/// Loads below a REDUCE that its own elements read under predicates.
std::vector<ir::UOp> predicated_loads(ir::UOp reduce);

/// The value itself where its predicate holds.
ir::UOp without_predicate(ir::UOp value);

}  // namespace sinter::codegen
