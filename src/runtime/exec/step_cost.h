// What the steps of a plan come to at given sizes: known before any memory is, and for a plan without variables once
// and for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::runtime {

struct StepCost {
  int64_t tasks = 0;      ///< of the launch
  int64_t grain = 1;      ///< fewer tasks are not worth a thread
  double work_units = 0;  ///< that are worth a thread
  size_t bytes = 0;       ///< bytes that it reads and writes
  double flops = 0;
};

/// Bytes of a buffer at these values of the plan's variables.
size_t bytes_of(const PlanBuffer& buffer, const std::vector<int64_t>& vars);

/// Per step of a plan whose programs are there.
std::vector<StepCost> step_costs(const Plan& plan, const std::vector<int64_t>& vars);

}  // namespace sinter::runtime
