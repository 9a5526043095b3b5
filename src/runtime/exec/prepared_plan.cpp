// Which kind of run a device has.
#include "runtime/exec/prepared_plan.h"

#include <algorithm>
#include <utility>

#include "runtime/exec/cpu_execution.h"
#include "runtime/exec/cuda_execution.h"

namespace sinter::runtime {

Runnable::Runnable(Plan plan) : plan_(std::move(plan)), layout_(lay_out(plan_)) {
  const auto symbolic = [](const PlanDim& d) { return d.var >= 0; };
  const auto varies = [&](const std::vector<PlanDim>& dims) { return std::any_of(dims.begin(), dims.end(), symbolic); };
  const bool fixed =
      std::none_of(plan_.buffers.begin(), plan_.buffers.end(), [&](const PlanBuffer& b) { return varies(b.shape); }) &&
      std::all_of(plan_.steps.begin(), plan_.steps.end(),
                  [&](const Step& s) { return s.vars.empty() && !varies(s.outer); });
  if (fixed) loads_ = loads_of(plan_, {});
  if (plan_.device.kind() == Device::Kind::Cuda) lists_ = std::make_unique<cuda::LaunchLists>();
}

Runnable::~Runnable() = default;

std::unique_ptr<PlanRun> Runnable::runs() const {
  if (lists_) return std::make_unique<cuda::Run>(*lists_, plan_, layout_, loads_);
  return std::make_unique<cpu::Run>(plan_, layout_, loads_);
}

}  // namespace sinter::runtime
