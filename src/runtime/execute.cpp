// Memory and launches of one run.
#include "runtime/execute.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "runtime/counters.h"
#include "runtime/cpu/pool.h"
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
  if (layout.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout.bytes));
  int64_t scratch = 0;
  for (const auto& program : plan.programs) scratch = std::max(scratch, program->scratch());
  if (scratch) scratch_ = std::make_unique<Scratch>(scratch, cpu::pool().threads());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    switch (plan.buffers[i].kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)));
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch:
        memory_[i] = arena_ ? arena_->as<std::byte>() + layout.offsets[i] : nullptr;
        break;  // all are empty
    }
  }
}

size_t PlanRun::bytes(int buffer) const { return bytes_of(plan_.buffers[static_cast<size_t>(buffer)], vars_); }

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
    moved += launch(done, steps);
    done += steps;
  }
  if (logging(1))
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", plan_.launches.size(),
                       plan_.steps.size(), static_cast<double>(moved) / 1e6, microseconds_since(start)));
  return error_;
}

struct PlanRun::Call {
  const Program* program;
  const StepLoad* load;
  std::vector<void*> bufs;  ///< `stride` of them, once or per piece of scratch
  size_t stride;
  std::vector<int64_t> numbers;

  int run(Program::Entry entry, int64_t begin, int64_t end, Scratch* scratch) const {
    if (!program->scratch()) return entry(bufs.data(), numbers.data(), begin, end);
    const Scratch::Piece piece(*scratch);
    return entry(bufs.data() + piece.number() * stride, numbers.data(), begin, end);
  }
};

PlanRun::Call PlanRun::prepare(size_t number) const {
  const Step& step = plan_.steps[number];
  const Program& program = *plan_.programs[static_cast<size_t>(step.program)];
  Call c{&program, &loads_[number], {}, 1 + step.buffers.size() + (program.scratch() ? 1 : 0), {}};
  c.numbers.reserve(step.vars.size() + step.args.size());
  for (int v : step.vars) c.numbers.push_back(vars_[static_cast<size_t>(v)]);
  for (int a : step.args) c.numbers.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  const size_t copies = program.scratch() ? scratch_->pieces() : 1;
  c.bufs.reserve(copies * c.stride);
  for (size_t i = 0; i < copies; ++i) {
    c.bufs.push_back(const_cast<uint32_t*>(&error_));
    for (int b : step.buffers) c.bufs.push_back(memory_[static_cast<size_t>(b)]);
    if (program.scratch()) c.bufs.push_back(scratch_->memory(i));
  }
  return c;
}

int PlanRun::run_together(const std::vector<Call>& calls, Scratch* scratch) {
  struct Piece {
    const Call* call;
    int64_t begin, end;
  };
  std::vector<Piece> pieces;
  double worth = 1;
  for (const Call& c : calls) {
    const int64_t most = int64_t{4} * cpu::pool().threads();  // pieces of one call, which evens out what the threads do
    const int64_t points = c.load->points, size = std::max(c.load->grain, (points + most - 1) / most);
    for (int64_t i = 0; i < points; i += size) pieces.push_back({&c, i, std::min(i + size, points)});
    worth += c.load->pieces;
  }
  const auto grain = static_cast<int64_t>(static_cast<double>(pieces.size()) / worth);
  const auto count = static_cast<int64_t>(pieces.size());
  return cpu::pool().parallel_for(0, count, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
    int bits = 0;
    for (int64_t i = begin; i < end; ++i) {
      const Piece& p = pieces[static_cast<size_t>(i)];
      bits |= p.call->run(p.call->program->entry(), p.begin, p.end, scratch);
    }
    return bits;
  });
}

std::vector<MemoryUse::Range> PlanRun::ranges(const Step& step) const {
  std::vector<MemoryUse::Range> all;
  for (int b : step.buffers)
    all.push_back({static_cast<const std::byte*>(data(b)), bytes(b),
                   std::find(step.writes.begin(), step.writes.end(), b) != step.writes.end()});
  return all;
}

void PlanRun::open_arena(std::span<const Step> steps) {
  if (!arena_) return;
  forbid(arena_->data(), arena_->bytes());
  for (const Step& step : steps)
    for (int b : step.buffers)
      if (plan_.buffers[static_cast<size_t>(b)].kind == PlanBuffer::Kind::Scratch) allow(data(b), bytes(b));
}

size_t PlanRun::launch(size_t first, size_t number) {
  const std::span<const Step> steps(plan_.steps.data() + first, number);
  std::deque<MemoryUse> uses;
  if (kSanitizer == Sanitizer::Thread || env().check)
    for (const Step& step : steps)
      uses.emplace_back(plan_.programs[static_cast<size_t>(step.program)]->name(), ranges(step));
  if (kSanitizer == Sanitizer::Address) open_arena(steps);
  std::vector<Call> calls;
  calls.reserve(steps.size());
  StepLoad all;
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepLoad& load = *calls.emplace_back(prepare(first + i)).load;
    all.moved += load.moved, all.flops += load.flops, all.points += load.points;
  }
  count(counters().launches);
  count(counters().bytes_moved, all.moved);

  const Clock::time_point start = Clock::now();
  int bits = 0;
  if (calls.size() == 1) {
    const Call& c = calls[0];
    bits = cpu::pool().parallel_for(0, c.load->points, c.load->grain, [&](int64_t begin, int64_t end) {
      return c.run(c.program->entry(), begin, end, scratch_.get());
    });
  } else {
    bits = run_together(calls, scratch_.get());
  }
  for (const Call& c : calls)
    if (c.program->finish()) bits |= c.run(c.program->finish(), 0, 1, scratch_.get());
  error_ |= static_cast<uint32_t>(bits);
  if (logging(2)) {
    const double us = microseconds_since(start);
    std::string name = calls[0].program->name();
    if (calls.size() > 1) name += fmt::format(" and {} more", calls.size() - 1);
    log(2, fmt::format("  {:<56} {:>9} points {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s", name, all.points, us,
                       all.flops / us * 1e-3, static_cast<double>(all.moved) / us * 1e-3));
  }
  return all.moved;
}

}  // namespace sinter::runtime
