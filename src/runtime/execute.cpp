// Memory and launches of one run.
#include "runtime/execute.h"

#include <algorithm>

#include "runtime/counters.h"
#include "runtime/cpu/pool.h"
#include "runtime/faults.h"
#include "runtime/program.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

/// Work below which another thread is not woken, in ns and bytes.
constexpr double kPieceTime = 2000, kPieceBytes = 32 << 10;

}  // namespace

PlanRun::PlanRun(const Plan& plan, const ArenaLayout& layout, std::span<Buffer* const> slots, std::span<const int64_t> vars,
                 std::span<const uint64_t> args)
    : plan_(plan), vars_(vars.begin(), vars.end()), args_(args.begin(), args.end()), memory_(plan.buffers.size()), owned_(plan.buffers.size()) {
  if (layout.bytes) arena_ = Buffer::allocate(static_cast<size_t>(layout.bytes));
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    switch (plan.buffers[i].kind) {
      case PlanBuffer::Kind::Slot: memory_[i] = slots[i]->data(); break;
      case PlanBuffer::Kind::Output:
        owned_[i] = Buffer::allocate(bytes(static_cast<int>(i)));
        memory_[i] = owned_[i]->data();
        break;
      case PlanBuffer::Kind::Scratch: memory_[i] = arena_->as<std::byte>() + layout.offsets[i]; break;
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
  for (size_t k = 0; k < plan_.steps.size(); ++k) {
    if (f.fail_at_launch == static_cast<int>(k)) {
      f.fail_at_launch = -1;
      throw BackendError("the launch failed (injected)");
    }
    launch(plan_.steps[k]);
  }
  return error_;
}

void PlanRun::launch(const Step& step) {
  const Program& program = *plan_.programs[static_cast<size_t>(step.program)];
  std::vector<void*> bufs{&error_};
  std::vector<int64_t> numbers;
  size_t moved = 0;
  for (int b : step.buffers) {
    bufs.push_back(memory_[static_cast<size_t>(b)]);
    moved += bytes(b);
  }
  for (int v : step.vars) numbers.push_back(vars_[static_cast<size_t>(v)]);
  for (int a : step.args) numbers.push_back(static_cast<int64_t>(args_[static_cast<size_t>(a)]));
  int64_t points = 1;
  for (const PlanDim& d : step.outer) points *= d.at(vars_);

  count(counters().launches);
  count(counters().bytes_moved, moved);
  const double pieces = std::max(step.time / kPieceTime, static_cast<double>(moved) / kPieceBytes);
  const auto grain = static_cast<int64_t>(static_cast<double>(points) / std::max(pieces, 1.0));
  int bits = cpu::pool().parallel_for(0, points, std::max<int64_t>(grain, 1), [&](int64_t begin, int64_t end) {
    return program.entry()(bufs.data(), numbers.data(), begin, end);
  });
  if (program.finish()) bits |= program.finish()(bufs.data(), numbers.data(), 0, points);
  error_ |= static_cast<uint32_t>(bits);
}

}  // namespace sinter::runtime
