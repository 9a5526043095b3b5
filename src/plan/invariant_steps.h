// Hoists the steps of a plan whose inputs do not change from run to run, such as weights packed into panels.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::plan {

/// The inputs of a plan that are the same in every run, unless Bindings::unchanged_slots says otherwise.
struct InvariantInputs {
  std::vector<uint8_t> slots;  ///< per slot
  std::vector<uint8_t> args;   ///< per argument of the plan
};

/// The plan with its invariant steps, those that depend on nothing else, in launches of their own at the front
/// (Plan::invariant_launches). Steps connected through scratch are replayed together. Their scratch that later steps
/// read becomes Invariant. A step that stores an output or into a slot is not moved: each run has its own results.
runtime::Plan hoist_invariants(runtime::Plan plan, const InvariantInputs& invariant);

}  // namespace sinter::plan
