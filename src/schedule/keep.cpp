// The greatest set of steps that need nothing but each other and what stays: all of them, less what is found not to belong.
#include "schedule/keep.h"

#include <algorithm>

#include "schedule/memory.h"

namespace sinter::schedule {
namespace {

using runtime::Plan;
using runtime::PlanBuffer;
using runtime::Step;

/// Per step whether its results stay.
std::vector<uint8_t> steady_steps(const Plan& plan, const Steady& steady) {
  std::vector<uint8_t> stays(plan.steps.size(), 1), same(plan.buffers.size(), 0);
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    same[b] = plan.buffers[b].kind == PlanBuffer::Kind::Scratch || (plan.buffers[b].kind == PlanBuffer::Kind::Slot && steady.slots[b]);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const Step& step = plan.steps[s];
      const bool whole = std::all_of(step.buffers.begin(), step.buffers.end(), [&](int b) { return same[static_cast<size_t>(b)]; }) &&
                         std::all_of(step.args.begin(), step.args.end(), [&](int a) { return steady.args[static_cast<size_t>(a)]; });
      if (!stays[s] || whole) continue;
      changed = true;
      stays[s] = 0;
      for (int b : step.writes) same[static_cast<size_t>(b)] = 0;  // whatever others store there
    }
  }
  return stays;
}

}  // namespace

Plan keep_steady(Plan plan, const Steady& steady) {
  const std::vector<uint8_t> stays = steady_steps(plan, steady);
  if (std::find(stays.begin(), stays.end(), 1) == stays.end()) return plan;

  std::vector<Step> steps;
  std::vector<int> launches;
  for (const uint8_t first : {1, 0}) {
    size_t s = 0;
    for (const int together : plan.launches) {
      const size_t before = steps.size();
      for (const size_t end = s + static_cast<size_t>(together); s < end; ++s)
        if (stays[s] == first) steps.push_back(plan.steps[s]);
      if (steps.size() > before) launches.push_back(static_cast<int>(steps.size() - before));
    }
    if (first) plan.once = static_cast<int>(launches.size());
  }
  std::vector<uint8_t> stored(plan.buffers.size(), 0);  // by steps that stay
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (stays[s])
      for (int b : plan.steps[s].writes) stored[static_cast<size_t>(b)] = 1;
  for (size_t s = 0; s < plan.steps.size(); ++s)
    if (!stays[s])
      for (int b : plan.steps[s].buffers)
        if (stored[static_cast<size_t>(b)]) plan.buffers[static_cast<size_t>(b)].kind = PlanBuffer::Kind::Kept;
  plan.steps = std::move(steps);
  plan.launches = std::move(launches);
  set_lifetimes(plan);
  return plan;
}

}  // namespace sinter::schedule
