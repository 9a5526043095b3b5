// Slices of concatenations.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a SHRINK above selects by boxes, `where(pad(true, box), x, y)`: what `cat`, `stack` and versions become, and
/// what
///      their gradients mask.
/// Out: where the slice is inside or outside of the box, a SHRINK of the operand that is selected there. The gradient
/// of
///      the n-th of many joined parts then reads the gradient of the whole, and not the n masks that others have left.
void forward_slices(PlanGraph& plan);

}  // namespace sinter::schedule
