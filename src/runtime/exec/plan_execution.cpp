// Memory of one run, and the order of its launches.
#include "runtime/exec/plan_execution.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/scalar_eval.h"
#include "runtime/base/counters.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/launch_observer.h"
#include "runtime/program/program.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

/// So short that other threads gain nothing from an unlocked graph, in units worth a thread: 32 us, or 512 KiB.
constexpr double kShortUnits = 16;

}  // namespace

PlanExecution::PlanExecution(const ExecutablePlan& executable)
    : executable_(executable),
      costs_(executable.costs()),
      memory_(plan().buffers.size()),
      owned_(plan().buffers.size()) {
  fresh.resize(executable.signature().results.size());
}

void PlanExecution::bind(const Bindings& bindings) {
  invariants_valid_ = invariants_valid_ && same_sizes(bindings.vars);
  vars_ = bindings.vars;
  same_ = bindings.unchanged_slots;
  origins_ = bindings.origins;
  args_.clear();
  for (size_t i = 0; i < bindings.args.size(); ++i)
    args_.push_back(ir::to_bits(executable_.signature().arg_types[i], bindings.args[i]));
  if (executable_.costs().empty()) costs_ = own_costs_ = step_costs(plan(), vars_);
  double work_units = 0;
  for (const StepCost& cost : costs_) work_units += cost.work_units;
  is_short = plan().device.kind() == Device::Kind::Cpu && work_units <= kShortUnits;
  allocate(bindings.slots);
  place_results();
}

bool PlanExecution::same_sizes(const std::vector<int64_t>& vars) const {
  int steps = 0;
  for (size_t l = 0; l < plan().invariant_launches.size(); ++l) steps += plan().launches[l];
  return std::all_of(plan().steps.begin(), plan().steps.begin() + steps, [&](const PlanStep& s) {
    const auto same = [&](int v) { return vars_[v] == vars[v]; };
    return std::ranges::all_of(s.vars, same) &&
           std::ranges::all_of(s.outer, [&](const PlanDim& d) { return d.at(vars_) == d.at(vars); });
  });
}

void PlanExecution::allocate(std::span<Buffer* const> slots) {
  const ArenaLayout& layout = executable_.layout();
  if (layout.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout.bytes), plan().device);
  for (size_t i = 0; i < plan().buffers.size(); ++i) {
    const PlanBuffer& buffer = plan().buffers[i];
    switch (buffer.kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)), plan().device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Invariant:
        if (!owned_[i]) owned_[i] = Buffer::allocate(static_cast<size_t>(buffer.bound_bytes), plan().device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch:
        memory_[i] = arena_ ? arena_->as<std::byte>() + layout.offsets[i] : nullptr;
        break;  // all are empty
    }
  }
}

void PlanExecution::place_results() {
  const std::vector<PlanResult>& results = executable_.signature().results;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto [buffer, home] = results[i];
    if (home == buffer) continue;  // written in place
    if (home < 0) fresh[i] = std::move(owned_[buffer]);
    if (fresh[i]) continue;
    // An equal value of another result: computed once, then copied.
    if (home < 0) fresh[i] = Buffer::allocate(bytes(buffer), plan().device);
    duplicates_.emplace_back(home < 0 ? fresh[i]->data() : data(home), buffer);
  }
}

void PlanExecution::unbind() {
  arena_.reset();
  duplicates_.clear();
  error.reset();
  for (std::unique_ptr<Buffer>& b : fresh) b.reset();
  for (size_t i = 0; i < owned_.size(); ++i)
    if (plan().buffers[i].kind != PlanBuffer::Kind::Invariant) owned_[i].reset();
}

size_t PlanExecution::bytes(int buffer) const { return bytes_of(plan().buffers[buffer], vars_); }

const Program& PlanExecution::program(size_t step) const { return *plan().programs[plan().steps[step].program]; }

std::vector<int64_t> PlanExecution::scalars(size_t step) const {
  const PlanStep& s = plan().steps[step];
  std::vector<int64_t> out;
  out.reserve(s.vars.size() + s.args.size() + s.offsets.size());
  for (int v : s.vars) out.push_back(vars_[v]);
  for (int a : s.args) out.push_back(static_cast<int64_t>(args_[a]));
  out.insert(out.end(), s.offsets.begin(), s.offsets.end());
  return out;
}

bool PlanExecution::skippable(size_t launch, std::span<const uint8_t> same) const {
  return launch < plan().invariant_launches.size() &&
         std::ranges::all_of(
             plan().invariant_launches[launch],
             [&](int slot) { return static_cast<size_t>(slot) < same.size() && same[slot]; });
}

bool PlanExecution::skips_invariants(std::span<const uint8_t> same) const {
  for (size_t l = 0; l < plan().invariant_launches.size(); ++l)
    if (skippable(l, same)) return true;
  return false;
}

bool PlanExecution::drop_invariants() {
  invariants_valid_ = false;
  bool any = false;
  for (size_t i = 0; i < owned_.size(); ++i) {
    if (plan().buffers[i].kind != PlanBuffer::Kind::Invariant) continue;
    any |= owned_[i] != nullptr;
    owned_[i].reset();
  }
  return any;
}

uint32_t PlanExecution::run() {
  try {
    const uint32_t bits = launch_all();
    for (const auto& [to, from] : duplicates_) copy(plan().device, to, plan().device, data(from), bytes(from));
    return bits;
  } catch (const OutOfMemory& e) { throw BackendError(e.what()); }
}

uint32_t PlanExecution::launch_all() {
  const bool known = std::exchange(invariants_valid_, false);
  const LaunchObservers observers = make_launch_observers(*this);
  size_t bytes = 0, launched = 0;
  for (size_t l = 0, first = 0; l < plan().launches.size(); first += static_cast<size_t>(plan().launches[l++])) {
    if (known && skippable(l, same_)) continue;
    const auto steps = static_cast<size_t>(plan().launches[l]);
    const LaunchInfo info{l, first, steps, launch_cost(first, steps)};
    for (const auto& observer : observers) observer->before_launch(info);
    launch(first, steps);
    for (const auto& observer : observers) observer->after_launch(info);
    ++launched, bytes += info.cost.bytes;
  }
  const uint32_t error_bits = end();
  invariants_valid_ = !error_bits;
  count(counters().launches, launched);
  count(counters().bytes_moved, bytes);
  for (const auto& observer : observers) observer->after_run();
  return error_bits;
}

std::string PlanExecution::made_by(int position) const {
  const ir::NodeOrigin* o =
      position >= 0 && static_cast<size_t>(position) < origins_.size() ? origins_[position] : nullptr;
  if (o && !o->call.empty()) return fmt::format("{} at {}:{}", o->call, o->file, o->line);
  const ir::Caller* c = ir::caller();
  return c ? fmt::format("{} at {}:{}", c->name, c->where.file_name(), c->where.line()) : "made outside of calls";
}

StepCost PlanExecution::launch_cost(size_t first, size_t number) const {
  StepCost all = cost(first);
  for (size_t i = first + 1; i < first + number; ++i) {
    const StepCost& more = cost(i);
    all.bytes += more.bytes, all.flops += more.flops, all.tasks += more.tasks, all.work_units += more.work_units;
    all.tensor |= more.tensor;
  }
  return all;
}

}  // namespace sinter::runtime
