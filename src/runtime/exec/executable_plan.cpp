// Selects the execution class for the plan's device.
#include "runtime/exec/executable_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/exec/cpu_execution.h"
#include "runtime/exec/cuda_execution.h"
#include "runtime/exec/invariant_steps.h"

namespace sinter::runtime {

ExecutablePlan::ExecutablePlan(Plan plan, PlanSignature signature)
    : plan_(std::move(plan)), signature_(std::move(signature)), layout_(lay_out(plan_)) {
  const auto symbolic = [](const PlanDim& d) { return d.var >= 0; };
  const auto varies = [&](const std::vector<PlanDim>& dims) { return std::ranges::any_of(dims, symbolic); };
  const bool fixed =
      std::ranges::none_of(plan_.buffers, [&](const PlanBuffer& b) { return varies(b.shape); }) &&
      std::ranges::all_of(plan_.steps, [&](const PlanStep& s) { return s.vars.empty() && !varies(s.outer); });
  if (fixed) costs_ = step_costs(plan_, {});
  if (plan_.device.kind() == Device::Kind::Cuda) graphs_ = std::make_unique<cuda::LaunchGraphPool>();
}

ExecutablePlan::~ExecutablePlan() = default;

std::unique_ptr<Execution> ExecutablePlan::make_execution() const { return make_plan_execution(); }

std::unique_ptr<PlanExecution> ExecutablePlan::make_plan_execution() const {
  if (graphs_) return std::make_unique<cuda::CudaExecution>(*graphs_, *this);
  return std::make_unique<cpu::CpuExecution>(*this);
}

std::unique_ptr<Executable> ExecutablePlan::hoist_invariants(const InvariantInputs& invariant) const {
  // A GPU's error word is known long after its launches, and each run must report an index out of range.
  if (plan_.raises_errors && plan_.device.kind() == Device::Kind::Cuda) return nullptr;
  Plan hoisted = runtime::hoist_invariants(plan_, invariant);
  if (hoisted.invariant_launches.empty()) return nullptr;
  if (logging(3)) log(3, to_string(hoisted));
  return std::make_unique<ExecutablePlan>(std::move(hoisted), signature_);
}

}  // namespace sinter::runtime
