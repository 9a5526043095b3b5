// Selects the execution class for the plan's device.
#include "runtime/exec/executable_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/exec/cpu_execution.h"
#include "runtime/exec/cuda_execution.h"

namespace sinter::runtime {

ExecutablePlan::ExecutablePlan(Plan plan) : plan_(std::move(plan)), layout_(lay_out(plan_)) {
  const auto symbolic = [](const PlanDim& d) { return d.var >= 0; };
  const auto varies = [&](const std::vector<PlanDim>& dims) { return std::any_of(dims.begin(), dims.end(), symbolic); };
  const bool fixed =
      std::none_of(plan_.buffers.begin(), plan_.buffers.end(), [&](const PlanBuffer& b) { return varies(b.shape); }) &&
      std::all_of(plan_.steps.begin(), plan_.steps.end(),
                  [&](const PlanStep& s) { return s.vars.empty() && !varies(s.outer); });
  if (fixed) costs_ = step_costs(plan_, {});
  if (plan_.device.kind() == Device::Kind::Cuda) graphs_ = std::make_unique<cuda::LaunchGraphPool>();
}

ExecutablePlan::~ExecutablePlan() = default;

std::unique_ptr<PlanExecution> ExecutablePlan::make_execution() const {
  if (graphs_) return std::make_unique<cuda::CudaExecution>(*graphs_, plan_, layout_, costs_);
  return std::make_unique<cpu::CpuExecution>(plan_, layout_, costs_);
}

}  // namespace sinter::runtime
