// What a plan computes of values that stay from run to run, such as weights in panels: once, before everything else.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::plan {

/// What of a plan is the same from run to run, unless somebody says that it is not.
struct InvariantInputs {
  std::vector<uint8_t> slots;  ///< per slot
  std::vector<uint8_t> args;   ///< per argument of the plan
};

/// The same plan, with its steps that read nothing else in launches of their own at the front
/// (Plan::invariant_launches): those that pass values to one another, however far, run again together. Scratch that
/// later steps read of them is Invariant. A step that stores an output, or into a slot, stays where it is, as each run
/// has results of its own.
runtime::Plan hoist_invariants(runtime::Plan plan, const InvariantInputs& invariant);

}  // namespace sinter::plan
