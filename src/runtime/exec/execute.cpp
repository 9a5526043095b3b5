// Memory of one run, and the order of its launches.
#include "runtime/exec/execute.h"

#include <algorithm>
#include <utility>

#include "runtime/base/counters.h"
#include "runtime/program/program.h"

namespace sinter::runtime {

PlanExecution::PlanExecution(const Plan& plan, const ArenaLayout& layout, std::span<const StepCost> costs)
    : plan_(plan),
      layout_(layout),
      varies_(costs.empty()),
      costs_(costs),
      memory_(plan.buffers.size()),
      owned_(plan.buffers.size()) {}

void PlanExecution::bind(std::span<Buffer* const> slots, std::span<const int64_t> vars,
                         std::span<const uint64_t> args) {
  invariants_valid_ = invariants_valid_ && std::equal(vars_.begin(), vars_.end(), vars.begin(), vars.end());
  vars_.assign(vars.begin(), vars.end());
  args_.assign(args.begin(), args.end());
  if (varies_) costs_ = own_costs_ = step_costs(plan_, vars_);
  if (layout_.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout_.bytes), plan_.device);
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    switch (plan_.buffers[i].kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)), plan_.device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Invariant:
        if (!owned_[i]) owned_[i] = Buffer::allocate(static_cast<size_t>(plan_.buffers[i].bound_bytes), plan_.device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch:
        memory_[i] = arena_ ? arena_->as<std::byte>() + layout_.offsets[i] : nullptr;
        break;  // all are empty
    }
  }
}

void PlanExecution::unbind() {
  arena_.reset();
  for (size_t i = 0; i < owned_.size(); ++i)
    if (plan_.buffers[i].kind != PlanBuffer::Kind::Invariant) owned_[i].reset();
}

bool PlanExecution::is_short() const {
  constexpr double kBriefUnits = 16;  // in units worth a thread: 32 us, or 512 KiB
  double work_units = 0;
  for (const StepCost& cost : costs_) work_units += cost.work_units;
  return plan_.device.kind() == Device::Kind::Cpu && work_units <= kBriefUnits;
}

size_t PlanExecution::bytes(int buffer) const { return bytes_of(plan_.buffers[static_cast<size_t>(buffer)], vars_); }

const Program& PlanExecution::program(size_t step) const {
  return *plan_.programs[static_cast<size_t>(plan_.steps[step].program)];
}

std::vector<int64_t> PlanExecution::scalars(size_t step) const {
  const PlanStep& s = plan_.steps[step];
  std::vector<int64_t> out;
  out.reserve(s.vars.size() + s.args.size() + s.offsets.size());
  for (int v : s.vars) out.push_back(vars_[static_cast<size_t>(v)]);
  for (int a : s.args) out.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  out.insert(out.end(), s.offsets.begin(), s.offsets.end());
  return out;
}

bool PlanExecution::skippable(size_t launch, std::span<const uint8_t> same) const {
  return launch < plan_.invariant_launches.size() &&
         std::all_of(
             plan_.invariant_launches[launch].begin(), plan_.invariant_launches[launch].end(),
             [&](int slot) { return static_cast<size_t>(slot) < same.size() && same[static_cast<size_t>(slot)]; });
}

bool PlanExecution::skips_invariants(std::span<const uint8_t> same) const {
  for (size_t l = 0; l < plan_.invariant_launches.size(); ++l)
    if (skippable(l, same)) return true;
  return false;
}

bool PlanExecution::drop_invariants() {
  invariants_valid_ = false;
  bool any = false;
  for (size_t i = 0; i < owned_.size(); ++i) {
    if (plan_.buffers[i].kind != PlanBuffer::Kind::Invariant) continue;
    any |= owned_[i] != nullptr;
    owned_[i].reset();
  }
  return any;
}

uint32_t PlanExecution::run(std::span<const uint8_t> same) {
  const bool known = std::exchange(invariants_valid_, false);
  slow_.clear();
  const LaunchObservers observers = make_launch_observers(*this, slow_);
  size_t bytes = 0, launched = 0;
  for (size_t l = 0, first = 0; l < plan_.launches.size(); first += static_cast<size_t>(plan_.launches[l++])) {
    if (known && skippable(l, same)) continue;
    const auto steps = static_cast<size_t>(plan_.launches[l]);
    const LaunchInfo info{l, first, steps, launch_cost(first, steps)};
    for (const auto& observer : observers) observer->before_launch(info);
    launch(first, steps);
    for (const auto& observer : observers) observer->after_launch(info);
    ++launched, bytes += info.cost.bytes;
  }
  const uint32_t error = end();
  invariants_valid_ = !error;
  count(counters().launches, launched);
  count(counters().bytes_moved, bytes);
  for (const auto& observer : observers) observer->after_run();
  return error;
}

StepCost PlanExecution::launch_cost(size_t first, size_t number) const {
  StepCost all = cost(first);
  for (size_t i = first + 1; i < first + number; ++i) {
    const StepCost& more = cost(i);
    all.bytes += more.bytes, all.flops += more.flops, all.tasks += more.tasks, all.work_units += more.work_units;
  }
  return all;
}

}  // namespace sinter::runtime
