// The cost of a plan's steps at given sizes. Known before memory is allocated, and constant for a plan without
// variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::runtime {

struct StepCost {
  int64_t tasks = 0;      ///< of the launch
  int64_t grain = 1;      ///< least number of tasks worth a thread
  double work_units = 0;  ///< multiples of the work worth a thread
  size_t bytes = 0;       ///< read and written
  double flops = 0;
  bool tensor = false;  ///< the flops are those of tensor cores
};

/// Bytes of a buffer at these values of the plan's variables.
size_t bytes_of(const PlanBuffer& buffer, const std::vector<int64_t>& vars);

/// Bytes that a step reads and writes of each of its buffers, at these values of the plan's variables.
std::vector<double> bytes_moved(const Plan& plan, const PlanStep& step, const std::vector<int64_t>& vars);

/// One cost per step. The plan must contain its programs.
std::vector<StepCost> step_costs(const Plan& plan, const std::vector<int64_t>& vars);

}  // namespace sinter::runtime
