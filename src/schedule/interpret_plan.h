// Runs plans on the interpreter: as a plan graph, and as kernels. Tests compare the two for many programs,
// SINTER_CHECK=1 for every small one.
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
  std::vector<int64_t> vars;  ///< values of PlanGraph::vars
};

struct PlanValues {
  std::vector<runtime::Array> outputs;
  uint32_t error = 0;
};

/// The values of the plan graph. Reductions add in the order of their trees.
PlanValues interpret_plan(const PlanGraph& plan, const PlanInputs& in);

/// Runs the steps in order on the kernel interpreter. Scratch and new outputs begin as garbage. Throws InternalError
/// if a slot was written that is no output's home. `written`: math functions inside combines are expanded as in
/// generated code.
PlanValues interpret_steps(const KernelSchedule& scheduled, const PlanInputs& in, bool written = false);

/// Throws InternalError unless the kernels give the same bits as `plan`, the graph that was partitioned, on sampled
/// inputs. Does nothing if interpreting the plan takes too long.
void check_values(const PlanGraph& plan, const KernelSchedule& scheduled);

/// Throws InternalError unless the compiled programs, run on the device, give the same bits and error word as the
/// kernels they were compiled from. `scheduled.plan` holds the programs. The launch counters do not change.
void check_programs(const PlanGraph& plan, KernelSchedule scheduled);

}  // namespace sinter::schedule
