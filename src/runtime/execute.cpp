// Memory and launches of one run.
#include "runtime/execute.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "runtime/counters.h"
#include "runtime/cpu/pool.h"
#include "runtime/faults.h"
#include "runtime/log.h"
#include "runtime/program.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

/// Work below which another thread is not woken, in ns and bytes.
constexpr double kPieceTime = 2000, kPieceBytes = 32 << 10;

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

PlanRun::PlanRun(const Plan& plan, const ArenaLayout& layout, std::span<Buffer* const> slots,
                 std::span<const int64_t> vars, std::span<const uint64_t> args)
    : plan_(plan),
      vars_(vars.begin(), vars.end()),
      args_(args.begin(), args.end()),
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

size_t PlanRun::bytes(int buffer) const {
  const PlanBuffer& b = plan_.buffers[static_cast<size_t>(buffer)];
  int64_t count = 1;
  for (const PlanDim& d : b.shape) count *= d.at(vars_);
  return static_cast<size_t>(count) * size_of(b.dtype);
}

uint32_t PlanRun::run() {
  Faults& f = faults();
  const Clock::time_point start = Clock::now();
  size_t moved = 0;
  for (size_t k = 0; k < plan_.steps.size(); ++k) {
    if (f.fail_at_launch == static_cast<int>(k)) {
      f.fail_at_launch = -1;
      throw BackendError("the launch failed (injected)");
    }
    moved += launch(plan_.steps[k]);
  }
  if (logging(1))
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", plan_.steps.size(),
                       plan_.programs.size(), static_cast<double>(moved) / 1e6, microseconds_since(start)));
  return error_;
}

size_t PlanRun::moved(const Step& step, const std::vector<int64_t>& sizes) const {
  const std::vector<Amount>& touched = plan_.work[static_cast<size_t>(step.program)].touched;
  double moved = 0;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const double element = static_cast<double>(size_of(plan_.buffers[static_cast<size_t>(step.buffers[i])].dtype));
    moved += std::min(static_cast<double>(bytes(step.buffers[i])), touched[i].at(sizes) * element);
  }
  return static_cast<size_t>(moved);
}

size_t PlanRun::launch(const Step& step) {
  const Program& program = *plan_.programs[static_cast<size_t>(step.program)];
  std::vector<void*> bufs{&error_};
  std::vector<int64_t> sizes;
  for (int b : step.buffers) bufs.push_back(memory_[static_cast<size_t>(b)]);
  for (int v : step.vars) sizes.push_back(vars_[static_cast<size_t>(v)]);
  std::vector<int64_t> numbers = sizes;
  for (int a : step.args) numbers.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  std::vector<int64_t> outer;
  for (const PlanDim& d : step.outer) outer.push_back(d.at(vars_));
  const int64_t points = program.points(outer);

  const size_t bytes = moved(step, sizes);
  count(counters().launches);
  count(counters().bytes_moved, bytes);
  const double pieces = std::max(step.time / kPieceTime, static_cast<double>(bytes) / kPieceBytes);
  const auto grain = static_cast<int64_t>(static_cast<double>(points) / std::max(pieces, 1.0));
  std::vector<std::vector<void*>> with_scratch(program.scratch() ? scratch_->pieces() : 0, bufs);
  for (size_t i = 0; i < with_scratch.size(); ++i) with_scratch[i].push_back(scratch_->memory(i));
  auto call = [&](Program::Entry entry, int64_t begin, int64_t end) {
    if (with_scratch.empty()) return entry(bufs.data(), numbers.data(), begin, end);
    const Scratch::Piece piece(*scratch_);
    return entry(with_scratch[piece.number()].data(), numbers.data(), begin, end);
  };
  const Clock::time_point start = Clock::now();
  int bits = cpu::pool().parallel_for(0, points, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
    return call(program.entry(), begin, end);
  });
  if (program.finish()) bits |= call(program.finish(), 0, 1);
  error_ |= static_cast<uint32_t>(bits);
  if (logging(2)) {
    const double us = microseconds_since(start);
    log(2, fmt::format("  {:<56} {:>9} points {:>10.1f} us {:>8.2f} GFLOP/s {:>8.2f} GB/s", program.name(), points, us,
                       plan_.work[static_cast<size_t>(step.program)].flops.at(sizes) / us * 1e-3,
                       static_cast<double>(bytes) / us * 1e-3));
  }
  return bytes;
}

}  // namespace sinter::runtime
