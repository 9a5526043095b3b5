// Plans on the interpreters: the plan graph's own values, and those that its kernels give. Tests compare the two on
// many programs, SINTER_CHECK=1 on every small one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/arena.h"
#include "runtime/exec/array.h"
#include "schedule/schedule.h"

namespace sinter::schedule {

struct PlanInputs {
  std::vector<runtime::Array> slots;
  std::vector<ir::Scalar> args;
  std::vector<int64_t> vars;  ///< values of the plan graph's
};

struct PlanValues {
  std::vector<runtime::Array> outputs;
  uint32_t error = 0;
};

/// The values of the plan graph itself, reductions in the order of their trees.
PlanValues interpret_plan(const PlanGraph& plan, const PlanInputs& in);

/// Runs the steps in order on the interpreter of kernels; scratch and new outputs begin as garbage. Throws
/// InternalError when a slot was written that is no output's home. `written`: functions inside combines are computed as
/// generated code does.
PlanValues interpret_steps(const KernelSchedule& scheduled, const PlanInputs& in, bool written = false);

/// Throws InternalError unless the kernels give every bit of what `plan`, as it was cut, gives, for sampled inputs.
/// Does nothing for a plan that takes too long to interpret.
void check_values(const PlanGraph& plan, const KernelSchedule& scheduled);

/// Throws InternalError unless the plan's programs, run on the machine, give every bit and the error word that the
/// kernels they were compiled from give. `scheduled.plan` holds the programs; the counters of launches stay.
void check_programs(const PlanGraph& plan, KernelSchedule scheduled);

}  // namespace sinter::schedule
