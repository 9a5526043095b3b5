// Kernels called over ranges of their points.
#include "runtime/exec/cpu_execution.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "ir/denormals.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/exec/work_split.h"
#include "runtime/program/program.h"

namespace sinter::runtime::cpu {

Run::Run(const Plan& plan, const ArenaLayout& layout, std::span<const StepLoad> loads) : PlanRun(plan, layout, loads) {
  for (const auto& program : plan.programs) scratch_bytes_ = std::max(scratch_bytes_, program->scratch());
}

void Run::bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) {
  PlanRun::bind(slots, vars, args);
  error_ = 0;
  if (scratch_bytes_) scratch_ = std::make_unique<Scratch>(scratch_bytes_, pool().threads());
}

void Run::let_go() {
  PlanRun::let_go();
  scratch_.reset();
}

/// Called for points of the kernel. The caller has just written it and other threads read it: one line holds where they
/// find the rest.
struct alignas(64) Run::Call {
  Call(const Program& program, const StepLoad& load, std::vector<int64_t> numbers, Scratch* scratch)
      : program(&program), scratch(scratch), load(&load), numbers(std::move(numbers)) {}

  const Program* program;
  Scratch* scratch;  ///< null for a kernel that needs none
  const StepLoad* load;
  size_t stride = 0;                  ///< of `bufs`, which are so many, once or per piece of scratch
  const bool flush = ir::flushing();  ///< as the caller, on all threads
  std::vector<int64_t> numbers;
  InlineVector<void*, 16> bufs;

  int operator()(int64_t begin, int64_t end) const { return run(program->entry(), begin, end); }
  int finish() const { return program->finish() ? run(program->finish(), 0, 1) : 0; }

 private:
  int run(Program::Entry entry, int64_t begin, int64_t end) const {
    const ir::FlushDenormals zeros(flush);
    if (!scratch) return entry(bufs.data(), numbers.data(), begin, end);
    const Scratch::Piece piece(*scratch);
    return entry(bufs.data() + piece.number() * stride, numbers.data(), begin, end);
  }
};

Run::Call Run::prepare(size_t number) const {
  const Step& step = plan().steps[number];
  const Program& kernel = program(number);
  Call c(kernel, load(number), numbers(number), kernel.scratch() ? scratch_.get() : nullptr);
  c.stride = 1 + step.buffers.size() + (c.scratch ? 1 : 0);
  const size_t copies = c.scratch ? c.scratch->pieces() : 1;
  c.bufs.reserve(copies * c.stride);
  for (size_t i = 0; i < copies; ++i) {
    c.bufs.push_back(const_cast<uint32_t*>(&error_));
    for (int b : step.buffers) c.bufs.push_back(data(b));
    if (c.scratch) c.bufs.push_back(c.scratch->memory(i));
  }
  return c;
}

namespace {

/// What one thread begins with; the others take from it when their own is done.
struct alignas(64) Share {
  std::atomic<size_t> next{0};
  size_t end = 0;
};

}  // namespace

int Run::run_together(const std::vector<Call>& calls) {
  std::vector<const StepLoad*> loads;
  double worth = 0;
  for (const Call& c : calls) {
    loads.push_back(c.load);
    worth += c.load->pieces;
  }
  const auto parties = static_cast<int>(std::clamp(worth, 1.0, static_cast<double>(pool().threads())));
  const std::vector<Piece> pieces = pieces_of(loads, parties);
  std::vector<Share> shares(static_cast<size_t>(parties));
  for (size_t i = 0, at = 0; i < shares.size(); ++i) {
    shares[i].next = at;
    while (at < pieces.size() && pieces[at].party == static_cast<int>(i)) ++at;
    shares[i].end = at;
  }
  return pool().parallel_for(0, parties, 1, [&](int64_t party, int64_t) {
    int bits = 0;
    for (size_t s = 0; s < shares.size(); ++s) {
      Share& share = shares[(static_cast<size_t>(party) + s) % shares.size()];
      for (size_t i; (i = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
        bits |= calls[pieces[i].kernel](pieces[i].begin, pieces[i].end);
    }
    return bits;
  });
}

void Run::open_arena(std::span<const Step> steps) {
  if (!arena()) return;
  forbid(arena()->data(), arena()->bytes());
  for (const Step& step : steps)
    for (int b : step.buffers)
      if (plan().buffers[static_cast<size_t>(b)].kind == PlanBuffer::Kind::Scratch) allow(data(b), bytes(b));
}

void Run::launch(size_t first, size_t number) {
  if (kSanitizer == Sanitizer::Address) open_arena({plan().steps.data() + first, number});
  int bits = 0;
  if (number == 1) {
    const Call call = prepare(first);
    bits = pool().parallel_for(0, call.load->points, call.load->grain, call);
    bits |= call.finish();
  } else {
    std::vector<Call> calls;
    calls.reserve(number);
    for (size_t i = first; i < first + number; ++i) calls.push_back(prepare(i));
    bits = run_together(calls);
    for (const Call& c : calls) bits |= c.finish();
  }
  error_ |= static_cast<uint32_t>(bits);
}

}  // namespace sinter::runtime::cpu
