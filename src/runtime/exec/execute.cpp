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

/// Against what a launch on the CPU is held: arithmetic or memory, whichever takes longer at best.
struct PlanRun::Limit {
  double us = 0;
  const char* of = "math";
  int threads = 1;

  static Limit of_launch(const StepLoad& load);
};

namespace {

/// A launch is named at DEBUG=1 that takes so long, and above so small a share of its roof.
constexpr double kLongUs = 5000, kPoorShare = 0.05;

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// The line of DEBUG=2, which scripts/roofline.py reads.
std::string line_of(const std::string& name, const StepLoad& load, double us) {
  const auto moved = static_cast<double>(load.moved);
  return fmt::format("  {:<56} {:>9} points {:>10.1f} us {:>10.4f} MB {:>11.4f} MFLOP {:>8.2f} GB/s {:>8.2f} GFLOP/s",
                     name, load.points, us, moved * 1e-6, load.flops * 1e-6, moved / us * 1e-3, load.flops / us * 1e-3);
}

}  // namespace

PlanRun::Limit PlanRun::Limit::of_launch(const StepLoad& load) {
  Limit limit;
  const double shares = std::min(static_cast<double>(load.points), load.pieces);
  limit.threads = static_cast<int>(std::clamp(shares, 1.0, static_cast<double>(cpu::pool().threads())));
  const cpu::Roofs roofs = cpu::known_roofs(limit.threads);
  const double math = load.flops / roofs.flops * 1e6, memory = static_cast<double>(load.moved) / roofs.copy * 1e6;
  limit.us = std::max(math, memory);
  if (memory > math) limit.of = "memory";
  return limit;
}

PlanRun::PlanRun(const Plan& plan, const ArenaLayout& layout, std::span<const StepLoad> loads)
    : plan_(plan),
      layout_(layout),
      varies_(loads.empty()),
      loads_(loads),
      memory_(plan.buffers.size()),
      owned_(plan.buffers.size()) {}

void PlanRun::bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) {
  kept_known_ = kept_known_ && std::equal(vars_.begin(), vars_.end(), vars.begin(), vars.end());
  vars_.assign(vars.begin(), vars.end());
  args_.assign(args.begin(), args.end());
  if (varies_) loads_ = own_loads_ = loads_of(plan_, vars_);
  if (layout_.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout_.bytes), plan_.device);
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    switch (plan_.buffers[i].kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)), plan_.device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Kept:
        if (!owned_[i]) owned_[i] = Buffer::allocate(static_cast<size_t>(plan_.buffers[i].bound_bytes), plan_.device);
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch:
        memory_[i] = arena_ ? arena_->as<std::byte>() + layout_.offsets[i] : nullptr;
        break;  // all are empty
    }
  }
}

void PlanRun::let_go() {
  arena_.reset();
  for (size_t i = 0; i < owned_.size(); ++i)
    if (plan_.buffers[i].kind != PlanBuffer::Kind::Kept) owned_[i].reset();
}

bool PlanRun::brief() const {
  constexpr double kBrief = 16;  // pieces that are worth a thread: 32 us, or 512 KiB
  double pieces = 0;
  for (const StepLoad& load : loads_) pieces += load.pieces;
  return plan_.device.kind() == Device::Kind::Cpu && pieces <= kBrief;
}

size_t PlanRun::bytes(int buffer) const { return bytes_of(plan_.buffers[static_cast<size_t>(buffer)], vars_); }

const Program& PlanRun::program(size_t step) const {
  return *plan_.programs[static_cast<size_t>(plan_.steps[step].program)];
}

std::vector<int64_t> PlanRun::numbers(size_t step) const {
  const Step& s = plan_.steps[step];
  std::vector<int64_t> out;
  out.reserve(s.vars.size() + s.args.size() + s.offsets.size());
  for (int v : s.vars) out.push_back(vars_[static_cast<size_t>(v)]);
  for (int a : s.args) out.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  out.insert(out.end(), s.offsets.begin(), s.offsets.end());
  return out;
}

bool PlanRun::spared(size_t launch, std::span<const uint8_t> same) const {
  return launch < plan_.once.size() &&
         std::all_of(
             plan_.once[launch].begin(), plan_.once[launch].end(),
             [&](int slot) { return static_cast<size_t>(slot) < same.size() && same[static_cast<size_t>(slot)]; });
}

bool PlanRun::spares(std::span<const uint8_t> same) const {
  for (size_t l = 0; l < plan_.once.size(); ++l)
    if (spared(l, same)) return true;
  return false;
}

bool PlanRun::forget() {
  kept_known_ = false;
  bool any = false;
  for (size_t i = 0; i < owned_.size(); ++i) {
    if (plan_.buffers[i].kind != PlanBuffer::Kind::Kept) continue;
    any |= owned_[i] != nullptr;
    owned_[i].reset();
  }
  return any;
}

uint32_t PlanRun::run(std::span<const uint8_t> same) {
  const bool known = std::exchange(kept_known_, false);
  Faults& f = faults();
  std::vector<Limit> limits;  // beforehand: roofs may have to be measured
  if (logging(2) && plan_.device.kind() == Device::Kind::Cpu) try {
      for (size_t l = 0, first = 0; l < plan_.launches.size(); first += static_cast<size_t>(plan_.launches[l++]))
        limits.push_back(Limit::of_launch(load_of(first, static_cast<size_t>(plan_.launches[l]))));
    } catch (const std::exception& error) {  // nothing was launched: a line of the log is not to fail the plan
      limits.clear();
      log(2, fmt::format("no roofs: {}", error.what()));
    }
  const bool logged = logging(1);
  const Clock::time_point start = logged ? Clock::now() : Clock::time_point();
  size_t moved = 0, done = 0, launched = 0, ran = 0;
  struct Timed {
    size_t first, count;
    double us;
  };
  std::vector<Timed> long_ones;
  slow_.clear();
  for (size_t l = 0; l < plan_.launches.size(); ++l) {
    const auto steps = static_cast<size_t>(plan_.launches[l]);
    done += steps;
    if (known && spared(l, same)) continue;
    ++launched, ran += steps;
    if (f.fail_at_launch == static_cast<int>(l)) {
      f.fail_at_launch = -1;
      throw BackendError("the launch failed (injected)");
    }
    const StepLoad load = load_of(done - steps, steps);
    moved += load.moved;
    const double us = launch_logged(done - steps, steps, load, limits.empty() ? nullptr : &limits[l]);
    if (us > kLongUs && plan_.device.kind() == Device::Kind::Cpu) long_ones.push_back({done - steps, steps, us});
  }
  const uint32_t error = end();
  kept_known_ = !error;
  count(counters().launches, launched);
  count(counters().bytes_moved, moved);
  if (logged)
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", launched, ran,
                       static_cast<double>(moved) / 1e6, microseconds_since(start)));
  for (const Timed& t : long_ones) judge(t.first, t.count, t.us);  // afterwards: roofs may have to be measured
  return error;
}

StepLoad PlanRun::load_of(size_t first, size_t number) const {
  StepLoad all = load(first);
  for (size_t i = first + 1; i < first + number; ++i) {
    const StepLoad& more = load(i);
    all.moved += more.moved, all.flops += more.flops, all.points += more.points, all.pieces += more.pieces;
  }
  return all;
}

std::string PlanRun::name_of(size_t first, size_t number) const {
  return program(first).name() + (number > 1 ? fmt::format(" and {} more", number - 1) : "");
}

void PlanRun::judge(size_t first, size_t number, double us) try {
  const Limit limit = Limit::of_launch(load_of(first, number));
  if (limit.us > kPoorShare * us) return;
  const auto begin = plan_.steps.begin() + static_cast<std::ptrdiff_t>(first);
  const auto longest = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(number),
                                        [](const Step& a, const Step& b) { return a.time < b.time; });
  slow_.push_back({fmt::format("{} took {:.1f} ms, {:.2f} % of {}, {} thread{}", name_of(first, number), us * 1e-3,
                               100 * limit.us / us, limit.of, limit.threads, limit.threads == 1 ? "" : "s"),
                   longest->position});
} catch (const std::exception& error) {  // of measuring roofs, which is not to fail the plan
  log(1, fmt::format("no roofs: {}", error.what()));
}

double PlanRun::launch_logged(size_t first, size_t number, const StepLoad& load, const Limit* limit) {
  std::list<MemoryUse> uses;  // which takes no memory while it is empty
  if (kSanitizer == Sanitizer::Thread || env().check)
    for (size_t i = first; i < first + number;) {
      const size_t begin = i;
      std::map<int, bool> written;  // by buffer; sections of one kernel are one use
      do {
        const Step& step = plan_.steps[i];
        for (int b : step.buffers)
          written[b] |= std::find(step.writes.begin(), step.writes.end(), b) != step.writes.end();
        ++i;
      } while (i < first + number && plan_.steps[i].whole >= 0 && plan_.steps[i].whole == plan_.steps[begin].whole);
      std::vector<MemoryUse::Range> ranges;
      for (auto [b, writes] : written) ranges.push_back({static_cast<const std::byte*>(data(b)), bytes(b), writes});
      uses.emplace_back(program(begin).name(), std::move(ranges));
    }
  const bool logged = logging(2);
  const bool timed = logged || (logging(1) && plan_.device.kind() == Device::Kind::Cpu);  // a GPU is not waited for
  const Clock::time_point start = timed ? Clock::now() : Clock::time_point();
  launch(first, number);
  const double us = timed ? microseconds_since(start) : 0;
  if (logged) {
    std::string line = line_of(name_of(first, number), load, us);
    if (limit)
      line += fmt::format(" {:>6.1f} % of {}, {} thread{}", 100 * limit->us / us, limit->of, limit->threads,
                          limit->threads == 1 ? "" : "s");
    double priced = 0;
    for (size_t i = first; i < first + number; ++i) priced += plan_.steps[i].time * 1e-3;
    log(2, line + fmt::format(", priced at {:.1f} us", priced));
  }
  return us;
}

}  // namespace sinter::runtime
