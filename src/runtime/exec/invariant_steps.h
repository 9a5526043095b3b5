// Hoists the steps of a plan whose inputs do not change from run to run, such as weights packed into panels.
#pragma once

#include "runtime/exec/execution.h"
#include "runtime/exec/plan.h"

namespace sinter::runtime {

/// The plan with its invariant steps, those that depend on nothing else, in launches of their own at the front
/// (Plan::invariant_launches). Steps connected through scratch are replayed together. Their scratch that later steps
/// read becomes Invariant. A step that stores an output or into a slot is not moved: each run has its own results.
Plan hoist_invariants(Plan plan, const InvariantInputs& invariant);

}  // namespace sinter::runtime
