// The greatest fixed point: begins with all steps and removes those that depend on anything else than each other and
// invariant inputs. Then groups the remaining steps by shared scratch.
#include "runtime/exec/invariant_steps.h"
#include "ir/contains.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sinter::runtime {
namespace {

size_t at(int number) { return static_cast<size_t>(number); }

/// Whether all sizes of the step are invariant.
bool same_sizes(const PlanStep& step, const InvariantInputs& invariant) {
  const auto same = [&](int v) { return v < 0 || invariant.vars.empty() || invariant.vars[at(v)]; };
  return std::ranges::all_of(step.vars, same) &&
         std::ranges::all_of(step.outer, [&](const PlanDim& d) { return same(d.var); });
}

/// Per step, whether its results are invariant.
std::vector<uint8_t> find_invariant_steps(const Plan& plan, const InvariantInputs& invariant) {
  std::vector<uint8_t> stays(plan.steps.size(), 1), same(plan.buffers.size(), 0);
  for (size_t b = 0; b < plan.buffers.size(); ++b)
    same[b] = plan.buffers[b].kind == PlanBuffer::Kind::Scratch ||
              (plan.buffers[b].kind == PlanBuffer::Kind::Slot && invariant.slots[b]);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const PlanStep& step = plan.steps[s];
      const bool all = std::ranges::all_of(step.buffers, [&](int b) { return same[at(b)]; }) &&
                       std::ranges::all_of(step.args, [&](int a) { return invariant.args[at(a)]; }) &&
                       same_sizes(step, invariant);
      if (!stays[s] || all) continue;
      changed = true;
      stays[s] = 0;
      for (int b : step.writes) same[at(b)] = 0;  // even if invariant steps write it too
    }
  }
  return stays;
}

/// Per invariant step, the first step of its group, where steps that share scratch are in one group.
std::vector<size_t> joined(const Plan& plan, const std::vector<uint8_t>& stays) {
  std::vector<size_t> first(plan.steps.size());
  for (size_t s = 0; s < first.size(); ++s) first[s] = s;
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<size_t> of_buffer(plan.buffers.size(), plan.steps.size());
    for (const bool give : {false, true})
      for (size_t s = 0; s < plan.steps.size(); ++s)
        for (int b : plan.steps[s].buffers) {
          if (!stays[s] || plan.buffers[at(b)].kind == PlanBuffer::Kind::Slot) continue;
          size_t &to = give ? first[s] : of_buffer[at(b)], from = give ? of_buffer[at(b)] : first[s];
          if (from >= to) continue;
          to = from;
          changed |= give;
        }
  }
  return first;
}

}  // namespace

Plan hoist_invariants(Plan plan, const InvariantInputs& invariant) {
  const std::vector<uint8_t> stays = find_invariant_steps(plan, invariant);
  if (!ir::contains(stays, 1)) return plan;
  const std::vector<size_t> first = joined(plan, stays);

  std::map<size_t, std::vector<int>> slots;             // slots on which the group of a step depends
  std::vector<uint8_t> stored(plan.buffers.size(), 0);  // by invariant steps
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (!stays[s]) continue;
    for (int b : plan.steps[s].writes) stored[at(b)] = 1;
    for (int b : plan.steps[s].buffers)
      if (std::vector<int>& of = slots[first[s]];
          plan.buffers[at(b)].kind == PlanBuffer::Kind::Slot && !ir::contains(of, b))
        of.push_back(b);
  }
  for (size_t s = 0; s < plan.steps.size(); ++s)
    for (int b : plan.steps[s].buffers)
      if (!stays[s] && stored[at(b)]) plan.buffers[at(b)].kind = PlanBuffer::Kind::Invariant;

  std::vector<PlanStep> front, rest;
  std::vector<int> front_launches, rest_launches;
  size_t s = 0;
  for (const int together : plan.launches) {
    std::map<size_t, std::vector<PlanStep>> groups;
    const size_t before = rest.size();
    for (const size_t end = s + at(together); s < end; ++s)
      (stays[s] ? groups[first[s]] : rest).push_back(std::move(plan.steps[s]));
    for (auto& [group, steps] : groups) {
      front_launches.push_back(static_cast<int>(steps.size()));
      plan.invariant_launches.push_back(slots.at(group));
      std::move(steps.begin(), steps.end(), std::back_inserter(front));
    }
    if (rest.size() > before) rest_launches.push_back(static_cast<int>(rest.size() - before));
  }
  std::move(rest.begin(), rest.end(), std::back_inserter(front));
  front_launches.insert(front_launches.end(), rest_launches.begin(), rest_launches.end());
  plan.steps = std::move(front);
  plan.launches = std::move(front_launches);
  set_lifetimes(plan);
  return plan;
}

}  // namespace sinter::runtime
