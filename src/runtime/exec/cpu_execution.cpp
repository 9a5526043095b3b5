// Calls kernels over ranges of their tasks.
#include "runtime/exec/cpu_execution.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "ir/denormals.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/exec/work_split.h"
#include "runtime/program/program.h"

namespace sinter::runtime::cpu {

CpuExecution::CpuExecution(const ExecutablePlan& executable) : PlanExecution(executable) {
  for (const auto& program : plan().programs) scratch_bytes_ = std::max(scratch_bytes_, program->scratch());
}

void CpuExecution::bind(const Bindings& bindings) {
  PlanExecution::bind(bindings);
  bits_ = 0;
  if (scratch_bytes_) scratch_ = std::make_unique<ScratchPool>(scratch_bytes_, thread_pool().threads());
}

void CpuExecution::unbind() {
  PlanExecution::unbind();
  scratch_.reset();
}

/// The arguments for calls of one kernel. The launching thread has just written them and other threads read them, so
/// the pointers to everything else share one cache line.
struct alignas(64) CpuExecution::KernelCall {
  KernelCall(const Program& program, const StepCost& cost, std::vector<int64_t> scalars, ScratchPool* scratch)
      : program(&program), scratch(scratch), cost(&cost), scalars(std::move(scalars)) {}

  const Program* program;
  ScratchPool* scratch;  ///< null if the kernel needs none
  const StepCost* cost;
  size_t stride = 0;  ///< number of entries in `bufs` per call; with scratch, `bufs` has one set per lease
  const bool flush = ir::flushes_denormals();  ///< all threads use the launching thread's mode
  std::vector<int64_t> scalars;
  InlineVector<void*, 16> bufs;

  int operator()(int64_t begin, int64_t end) const { return run(program->entry(), begin, end); }
  int run_epilogue() const { return program->epilogue() ? run(program->epilogue(), 0, 1) : 0; }

 private:
  int run(Program::EntryPoint entry, int64_t begin, int64_t end) const {
    const ir::FlushDenormals zeros(flush);
    if (!scratch) return entry(bufs.data(), scalars.data(), begin, end);
    const ScratchPool::Lease lease(*scratch);
    return entry(bufs.data() + lease.index() * stride, scalars.data(), begin, end);
  }
};

CpuExecution::KernelCall CpuExecution::make_call(size_t number) const {
  const PlanStep& step = plan().steps[number];
  const Program& kernel = program(number);
  KernelCall c(kernel, cost(number), scalars(number), kernel.scratch() ? scratch_.get() : nullptr);
  c.stride = 1 + step.buffers.size() + (c.scratch ? 1 : 0);
  const size_t leases = c.scratch ? c.scratch->leases() : 1;
  c.bufs.reserve(leases * c.stride);
  for (size_t i = 0; i < leases; ++i) {
    c.bufs.push_back(const_cast<uint32_t*>(&bits_));
    for (int b : step.buffers) c.bufs.push_back(data(b));
    if (c.scratch) c.bufs.push_back(c.scratch->memory(i));
  }
  return c;
}

namespace {

/// The chunks that one thread starts with. Other threads steal from it when their own queues are empty.
struct alignas(64) WorkQueue {
  std::atomic<size_t> next{0};
  size_t end = 0;
};

}  // namespace

int CpuExecution::run_concurrently(const std::vector<KernelCall>& calls) {
  std::vector<const StepCost*> costs;
  double worth = 0;
  for (const KernelCall& c : calls) {
    costs.push_back(c.cost);
    worth += c.cost->work_units;
  }
  const auto threads = static_cast<int>(std::clamp(worth, 1.0, static_cast<double>(thread_pool().threads())));
  const std::vector<WorkChunk> chunks = split_work(costs, threads);
  std::vector<WorkQueue> queues(static_cast<size_t>(threads));
  for (size_t i = 0, at = 0; i < queues.size(); ++i) {
    queues[i].next = at;
    while (at < chunks.size() && chunks[at].thread == static_cast<int>(i)) ++at;
    queues[i].end = at;
  }
  return thread_pool().parallel_for(0, threads, 1, [&](int64_t thread, int64_t) {
    int bits = 0;
    for (size_t s = 0; s < queues.size(); ++s) {
      WorkQueue& queue = queues[(static_cast<size_t>(thread) + s) % queues.size()];
      for (size_t i; (i = queue.next.fetch_add(1, std::memory_order_relaxed)) < queue.end;)
        bits |= calls[chunks[i].kernel](chunks[i].begin, chunks[i].end);
    }
    return bits;
  });
}

void CpuExecution::poison_unused_arena(std::span<const PlanStep> steps) {
  if (!arena()) return;
  poison_memory(arena()->data(), arena()->bytes());
  for (const PlanStep& step : steps)
    for (int b : step.buffers)
      if (plan().buffers[b].kind == PlanBuffer::Kind::Scratch) unpoison_memory(data(b), bytes(b));
}

void CpuExecution::launch(size_t first, size_t number) {
  if (kSanitizer == Sanitizer::Address) poison_unused_arena({plan().steps.data() + first, number});
  int bits = 0;
  if (number == 1) {
    const KernelCall call = make_call(first);
    bits = thread_pool().parallel_for(0, call.cost->tasks, call.cost->grain, call);
    bits |= call.run_epilogue();
  } else {
    std::vector<KernelCall> calls;
    calls.reserve(number);
    for (size_t i = first; i < first + number; ++i) calls.push_back(make_call(i));
    bits = run_concurrently(calls);
    for (const KernelCall& c : calls) bits |= c.run_epilogue();
  }
  bits_ |= static_cast<uint32_t>(bits);
}

double CpuExecution::time_step(size_t step, int times) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < times; ++i) launch(step, 1);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / times;
}

}  // namespace sinter::runtime::cpu
