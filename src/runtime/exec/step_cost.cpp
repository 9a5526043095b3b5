// Sizes, bytes and flops of steps.
#include "runtime/exec/step_cost.h"

#include <algorithm>

#include "runtime/base/sanitizer.h"
#include "runtime/program/program.h"

namespace sinter::runtime {
namespace {

/// Work below which another thread is not woken, in ns and bytes. ThreadSanitizer shall see every launch cut.
constexpr bool kSmallest = kSanitizer == Sanitizer::Thread;
constexpr double kPieceTime = kSmallest ? 1 : 2000, kPieceBytes = kSmallest ? 1 : 32 << 10;

StepLoad load_of(const Plan& plan, const Step& step, const std::vector<int64_t>& vars) {
  const Work& work = plan.work[static_cast<size_t>(step.program)];
  std::vector<int64_t> sizes, outer;
  for (int v : step.vars) sizes.push_back(vars[static_cast<size_t>(v)]);
  for (const PlanDim& d : step.outer) outer.push_back(d.at(vars));
  double moved = 0;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const PlanBuffer& b = plan.buffers[static_cast<size_t>(step.buffers[i])];
    const double touched = work.touched[i].at(sizes) * static_cast<double>(size_of(b.dtype));
    moved += std::min(static_cast<double>(bytes_of(b, vars)), touched);
  }
  StepLoad load;
  load.points = plan.programs[static_cast<size_t>(step.program)]->points(outer);
  load.pieces = std::max(step.time / kPieceTime, moved / kPieceBytes);
  const double grain = static_cast<double>(load.points) / std::max(load.pieces, 1.0);
  load.grain = std::max<int64_t>(static_cast<int64_t>(grain), 1);
  load.moved = static_cast<size_t>(moved);
  load.flops = work.flops.at(sizes);
  return load;
}

}  // namespace

size_t bytes_of(const PlanBuffer& buffer, const std::vector<int64_t>& vars) {
  int64_t count = 1;
  for (const PlanDim& d : buffer.shape) count *= d.at(vars);
  return static_cast<size_t>(count) * size_of(buffer.dtype);
}

std::vector<StepLoad> loads_of(const Plan& plan, const std::vector<int64_t>& vars) {
  std::vector<StepLoad> loads;
  for (const Step& step : plan.steps) loads.push_back(load_of(plan, step, vars));
  return loads;
}

}  // namespace sinter::runtime
