// Tasks, bytes and FLOPs of steps.
#include "runtime/exec/step_cost.h"

#include <algorithm>

#include "runtime/base/sanitizer.h"
#include "runtime/program/program.h"

namespace sinter::runtime {
namespace {

/// Work worth waking another thread for, in ns and bytes. Under ThreadSanitizer every launch is split.
constexpr bool kSmallest = kSanitizer == Sanitizer::Thread;
constexpr double kUnitTime = kSmallest ? 1 : 3000, kUnitBytes = kSmallest ? 1 : 32 << 10;

/// Values of the kernel's own variables.
std::vector<int64_t> sizes_of(const PlanStep& step, const std::vector<int64_t>& vars) {
  std::vector<int64_t> sizes;
  for (int v : step.vars) sizes.push_back(vars[v]);
  return sizes;
}

StepCost step_cost(const Plan& plan, const PlanStep& step, const std::vector<int64_t>& vars) {
  const KernelWork& work = plan.work[step.program];
  std::vector<int64_t> outer;
  for (const PlanDim& d : step.outer) outer.push_back(d.at(vars));
  double moved = 0;
  for (const double bytes : bytes_moved(plan, step, vars)) moved += bytes;
  StepCost cost;
  cost.tasks = plan.programs[step.program]->task_count(outer);
  cost.work_units = std::max(step.time / kUnitTime, moved / kUnitBytes);
  const double grain = static_cast<double>(cost.tasks) / std::max(cost.work_units, 1.0);
  cost.grain = std::max<int64_t>(static_cast<int64_t>(grain), 1);
  cost.bytes = static_cast<size_t>(moved);
  cost.flops = work.flops.at(sizes_of(step, vars));
  cost.tensor = work.tensor;
  return cost;
}

}  // namespace

size_t bytes_of(const PlanBuffer& buffer, const std::vector<int64_t>& vars) {
  int64_t count = 1;
  for (const PlanDim& d : buffer.shape) count *= d.at(vars);
  return static_cast<size_t>(count) * size_of(buffer.dtype);
}

std::vector<double> bytes_moved(const Plan& plan, const PlanStep& step, const std::vector<int64_t>& vars) {
  const std::vector<int64_t> sizes = sizes_of(step, vars);
  std::vector<double> moved;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const PlanBuffer& b = plan.buffers[step.buffers[i]];
    const double touched = plan.work[step.program].accesses[i].at(sizes) * static_cast<double>(size_of(b.dtype));
    moved.push_back(std::min(static_cast<double>(bytes_of(b, vars)), touched));
  }
  return moved;
}

std::vector<StepCost> step_costs(const Plan& plan, const std::vector<int64_t>& vars) {
  std::vector<StepCost> costs;
  for (const PlanStep& step : plan.steps) costs.push_back(step_cost(plan, step, vars));
  return costs;
}

}  // namespace sinter::runtime
