// Memory of one run, and the order of its launches.
#include "runtime/execute.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "runtime/counters.h"
#include "runtime/env.h"
#include "runtime/faults.h"
#include "runtime/log.h"
#include "runtime/memory_use.h"
#include "runtime/program.h"
#include "runtime/sanitizer.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

PlanRun::PlanRun(const Plan& plan, const ArenaLayout& layout, std::span<Buffer* const> slots,
                 std::span<const int64_t> vars, std::span<const uint64_t> args, std::span<const StepLoad> loads)
    : plan_(plan),
      vars_(vars.begin(), vars.end()),
      args_(args.begin(), args.end()),
      own_loads_(loads.empty() ? loads_of(plan, vars_) : std::vector<StepLoad>()),
      loads_(loads.empty() ? own_loads_ : loads),
      memory_(plan.buffers.size()),
      owned_(plan.buffers.size()) {
  if (layout.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout.bytes), plan.device);
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    switch (plan.buffers[i].kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)), plan.device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch:
        memory_[i] = arena_ ? arena_->as<std::byte>() + layout.offsets[i] : nullptr;
        break;  // all are empty
    }
  }
}

size_t PlanRun::bytes(int buffer) const { return bytes_of(plan_.buffers[static_cast<size_t>(buffer)], vars_); }

const Program& PlanRun::program(size_t step) const {
  return *plan_.programs[static_cast<size_t>(plan_.steps[step].program)];
}

std::vector<int64_t> PlanRun::numbers(size_t step) const {
  const Step& s = plan_.steps[step];
  std::vector<int64_t> out;
  out.reserve(s.vars.size() + s.args.size());
  for (int v : s.vars) out.push_back(vars_[static_cast<size_t>(v)]);
  for (int a : s.args) out.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  return out;
}

uint32_t PlanRun::run() {
  Faults& f = faults();
  const Clock::time_point start = Clock::now();
  size_t moved = 0, done = 0;
  for (size_t l = 0; l < plan_.launches.size(); ++l) {
    if (f.fail_at_launch == static_cast<int>(l)) {
      f.fail_at_launch = -1;
      throw BackendError("the launch failed (injected)");
    }
    const auto steps = static_cast<size_t>(plan_.launches[l]);
    moved += launch_counted(done, steps);
    done += steps;
  }
  const uint32_t error = end();
  if (logging(1))
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", plan_.launches.size(),
                       plan_.steps.size(), static_cast<double>(moved) / 1e6, microseconds_since(start)));
  return error;
}

size_t PlanRun::launch_counted(size_t first, size_t number) {
  std::deque<MemoryUse> uses;
  if (kSanitizer == Sanitizer::Thread || env().check)
    for (size_t i = first; i < first + number; ++i) {
      const Step& step = plan_.steps[i];
      std::vector<MemoryUse::Range> ranges;
      for (int b : step.buffers)
        ranges.push_back({static_cast<const std::byte*>(data(b)), bytes(b),
                          std::find(step.writes.begin(), step.writes.end(), b) != step.writes.end()});
      uses.emplace_back(program(i).name(), std::move(ranges));
    }
  StepLoad all;
  for (size_t i = first; i < first + number; ++i)
    all.moved += load(i).moved, all.flops += load(i).flops, all.points += load(i).points;
  count(counters().launches);
  count(counters().bytes_moved, all.moved);

  const Clock::time_point start = Clock::now();
  launch(first, number);
  if (logging(2)) {
    const double us = microseconds_since(start);
    std::string name = program(first).name();
    if (number > 1) name += fmt::format(" and {} more", number - 1);
    log(2, fmt::format("  {:<56} {:>9} points {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s", name, all.points, us,
                       all.flops / us * 1e-3, static_cast<double>(all.moved) / us * 1e-3));
  }
  return all.moved;
}

}  // namespace sinter::runtime
