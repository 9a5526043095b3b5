// Memory of one run, and the order of its launches.
#include "runtime/exec/execute.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <list>
#include <map>
#include <utility>

#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/roofline_cache.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/exec/overlap_check.h"
#include "runtime/program/program.h"
#include "sinter/error.h"

namespace sinter::runtime {

/// The lower bound on a CPU launch's time: arithmetic or memory, whichever takes longer.
struct PlanExecution::RooflineBound {
  double us = 0;
  const char* of = "math";
  int threads = 1;

  static RooflineBound of_launch(const StepCost& cost);
};

namespace {

/// DEBUG=1 reports a launch that takes longer than this and reaches a smaller share of its roof than this.
constexpr double kLongUs = 5000, kPoorShare = 0.05;

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The line of DEBUG=2, which scripts/roofline.py parses.
std::string line_of(const std::string& name, const StepCost& cost, double us) {
  const auto moved = static_cast<double>(cost.bytes);
  return fmt::format("  {:<56} {:>9} tasks {:>10.1f} us {:>10.4f} MB {:>11.4f} MFLOP {:>8.2f} GB/s {:>8.2f} GFLOP/s",
                     name, cost.tasks, us, moved * 1e-6, cost.flops * 1e-6, moved / us * 1e-3, cost.flops / us * 1e-3);
}

}  // namespace

PlanExecution::RooflineBound PlanExecution::RooflineBound::of_launch(const StepCost& cost) {
  RooflineBound bound;
  const double shares = std::min(static_cast<double>(cost.tasks), cost.work_units);
  bound.threads = static_cast<int>(std::clamp(shares, 1.0, static_cast<double>(cpu::thread_pool().threads())));
  const cpu::Roofline roofs = cpu::cached_roofline(bound.threads);
  const double math = cost.flops / roofs.flops * 1e6, memory = static_cast<double>(cost.bytes) / roofs.copy * 1e6;
  bound.us = std::max(math, memory);
  if (memory > math) bound.of = "memory";
  return bound;
}

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
  FaultInjection& f = fault_injection();
  std::vector<RooflineBound> bounds;  // before the launches, since the roofline may have to be measured
  if (logging(2) && plan_.device.kind() == Device::Kind::Cpu) try {
      for (size_t l = 0, first = 0; l < plan_.launches.size(); first += static_cast<size_t>(plan_.launches[l++]))
        bounds.push_back(RooflineBound::of_launch(launch_cost(first, static_cast<size_t>(plan_.launches[l]))));
    } catch (const std::exception& error) {  // nothing was launched yet; a log line must not fail the plan
      bounds.clear();
      log(2, fmt::format("no roofs: {}", error.what()));
    }
  const bool logged = logging(1);
  const Clock::time_point start = logged ? Clock::now() : Clock::time_point();
  size_t moved = 0, done = 0, launched = 0, ran = 0;
  struct LaunchTiming {
    size_t first, count;
    double us;
  };
  std::vector<LaunchTiming> long_ones;
  slow_.clear();
  for (size_t l = 0; l < plan_.launches.size(); ++l) {
    const auto steps = static_cast<size_t>(plan_.launches[l]);
    done += steps;
    if (known && skippable(l, same)) continue;
    ++launched, ran += steps;
    if (f.fail_at_launch == static_cast<int>(l)) {
      f.fail_at_launch = -1;
      throw BackendError("the launch failed (injected)");
    }
    const StepCost cost = launch_cost(done - steps, steps);
    moved += cost.bytes;
    const double us = launch_logged(done - steps, steps, cost, bounds.empty() ? nullptr : &bounds[l]);
    if (us > kLongUs && plan_.device.kind() == Device::Kind::Cpu) long_ones.push_back({done - steps, steps, us});
  }
  const uint32_t error = end();
  invariants_valid_ = !error;
  count(counters().launches, launched);
  count(counters().bytes_moved, moved);
  if (logged)
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", launched, ran,
                       static_cast<double>(moved) / 1e6, microseconds_since(start)));
  for (const LaunchTiming& t : long_ones)
    note_if_slow(t.first, t.count, t.us);  // after the launches, since the roofline may have to be measured
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

std::string PlanExecution::name_of(size_t first, size_t number) const {
  return program(first).name() + (number > 1 ? fmt::format(" and {} more", number - 1) : "");
}

void PlanExecution::note_if_slow(size_t first, size_t number, double us) try {
  const RooflineBound bound = RooflineBound::of_launch(launch_cost(first, number));
  if (bound.us > kPoorShare * us) return;
  const auto begin = plan_.steps.begin() + static_cast<std::ptrdiff_t>(first);
  const auto longest = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(number),
                                        [](const PlanStep& a, const PlanStep& b) { return a.time < b.time; });
  slow_.push_back({fmt::format("{} took {:.1f} ms, {:.2f} % of {}, {} thread{}", name_of(first, number), us * 1e-3,
                               100 * bound.us / us, bound.of, bound.threads, bound.threads == 1 ? "" : "s"),
                   longest->position});
} catch (const std::exception& error) {  // from measuring the roofline, which must not fail the plan
  log(1, fmt::format("no roofs: {}", error.what()));
}

double PlanExecution::launch_logged(size_t first, size_t number, const StepCost& cost, const RooflineBound* bound) {
  std::list<OverlapCheck> checks;  // allocates nothing while it is empty
  if (kSanitizer == Sanitizer::Thread || env().check)
    for (size_t i = first; i < first + number;) {
      const size_t begin = i;
      std::map<int, bool> written;  // by buffer; sections of one kernel count as one use
      do {
        const PlanStep& step = plan_.steps[i];
        for (int b : step.buffers)
          written[b] |= std::find(step.writes.begin(), step.writes.end(), b) != step.writes.end();
        ++i;
      } while (i < first + number && plan_.steps[i].section_of >= 0 &&
               plan_.steps[i].section_of == plan_.steps[begin].section_of);
      std::vector<OverlapCheck::MemoryRange> ranges;
      for (auto [b, writes] : written) ranges.push_back({static_cast<const std::byte*>(data(b)), bytes(b), writes});
      checks.emplace_back(program(begin).name(), std::move(ranges));
    }
  const bool logged = logging(2);
  const bool timed = logged || (logging(1) && plan_.device.kind() == Device::Kind::Cpu);  // a GPU is not waited for
  const Clock::time_point start = timed ? Clock::now() : Clock::time_point();
  launch(first, number);
  const double us = timed ? microseconds_since(start) : 0;
  if (logged) {
    std::string line = line_of(name_of(first, number), cost, us);
    if (bound)
      line += fmt::format(" {:>6.1f} % of {}, {} thread{}", 100 * bound->us / us, bound->of, bound->threads,
                          bound->threads == 1 ? "" : "s");
    double priced = 0;
    for (size_t i = first; i < first + number; ++i) priced += plan_.steps[i].time * 1e-3;
    log(2, line + fmt::format(", priced at {:.1f} us", priced));
  }
  return us;
}

}  // namespace sinter::runtime
