// Sums of products that vanish where a condition does not hold: the gradient of a padded or sliding window.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. Where both factors of a product are loads under one gate, and 0 where it is closed, a load is
/// gated itself only by what keeps it inside its Param, if that changes with nothing but its index, and selected by the
/// rest: what it loads does not depend on the other ranges of the gate.
ir::UOp select_factors(ir::Graph& g, ir::UOp sink);

/// The condition under which an element of a sum of products adds anything but +0: both factors are +0 where it does
/// not hold. Null if there is none.
ir::UOp common_gate(ir::UOp reduce);

/// Loads below a REDUCE that its own elements read under gates.
std::vector<ir::UOp> gated_loads(ir::UOp reduce);

/// The value itself where its gate holds.
ir::UOp without_gate(ir::UOp value);

}  // namespace sinter::codegen
