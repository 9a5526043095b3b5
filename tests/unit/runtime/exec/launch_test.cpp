// A launch of several kernels: which piece of them is taken next, and that none is twice.
#include "catch.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/exec/cpu_execution.h"
#include "runtime/program/host_target.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;

namespace {

constexpr double kWorth = 3000;  // ns of what is worth a thread: kUnitTime of runtime/exec/step_cost.cpp

/// Kernels of some points, each with its program, over one buffer of so many numbers, in one launch.
struct Together {
  Together(const std::vector<KernelSource>& sources, const std::vector<std::pair<int64_t, double>>& kernels,
           int64_t numbers)
      : buffer(Buffer::allocate(static_cast<size_t>(numbers) * 8)) {
    std::fill_n(values(), numbers, 0);
    plan.buffers = {{PlanBuffer::Kind::Slot, DType::I64, {{numbers, -1}}, numbers * 8, 0, 0}};
    for (int i = 0; const auto& [points, worth] : kernels) {
      plan.steps.push_back({i++, {0}, {}, {}, {{points, -1}}, {}, kWorth * worth});
      plan.work.push_back({{}, {{}}});
    }
    plan.launches = {static_cast<int>(kernels.size())};
    plan.programs = compile(sources, host_target());
    executable.emplace(plan, PlanSignature{});
    run.emplace(*executable);
    Bindings bindings;
    bindings.slots.push_back(buffer.get());
    run->bind(bindings);
  }
  int64_t* values() { return buffer->as<int64_t>(); }
  void launch() { run->launch(0, plan.steps.size()); }

  std::shared_ptr<Buffer> buffer;
  Plan plan;
  std::optional<ExecutablePlan> executable;
  std::optional<cpu::CpuExecution> run;
};

/// Notes its number and its points.
KernelSource noting_kernel(int number) {
  return {fmt::format("k_note_{}", number),
          fmt::format(R"(
int k_note_{0}(void* const* bufs, const long* vars, long begin, long end) {{
  long* notes = (long*)bufs[1];
  long* mine = notes + 1 + 3 * notes[0]++;
  mine[0] = {0}; mine[1] = begin; mine[2] = end;
  return 0;
}}
)",
                      number),
          false};
}

/// Counts how often each of its points is called, from an element of the buffer on.
KernelSource counting_kernel(int number, int64_t from) {
  return {fmt::format("k_count_{}", number),
          fmt::format(R"(
int k_count_{}(void* const* bufs, const long* vars, long begin, long end) {{
  for (long i = begin; i < end; ++i) ++((long*)bufs[1])[{} + i];
  return 0;
}}
)",
                      number, from),
          false};
}

}  // namespace

TEST_CASE("of uneven pieces that run side by side the longest one goes first, whichever kernel's it is", "[runtime]") {
  if (kSanitizer == Sanitizer::Thread) SKIP_TEST("a sanitizer's build");  // cuts every launch, however short
  const FreshCache cache;
  const ScopedEnv threads("SINTER_THREADS", "1");  // so that one comes after the other
  // The third is not cut below what is worth a thread.
  Together kernels({noting_kernel(0), noting_kernel(1), noting_kernel(2)}, {{4, 4 * .7}, {3, 3 * 1.0}, {10, 1.5}}, 64);
  kernels.launch();
  const int64_t* notes = kernels.values();
  std::vector<std::array<int64_t, 3>> taken;
  for (int64_t i = 0; i < notes[0]; ++i) taken.push_back({notes[1 + 3 * i], notes[2 + 3 * i], notes[3 + 3 * i]});
  CHECK(taken == std::vector<std::array<int64_t, 3>>{
                     {2, 0, 10}, {1, 0, 1}, {1, 1, 2}, {1, 2, 3}, {0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {0, 3, 4}});
}

TEST_CASE("each point of kernels that run side by side is called once, whoever has time", "[runtime]") {
  const FreshCache cache;
  const std::string number = GENERATE("1", "2", "4");
  const double worth = GENERATE(1.0, 400.0);  // for fewer threads than there are, and for all
  const ScopedEnv threads("SINTER_THREADS", number);
  Together kernels({counting_kernel(0, 0), counting_kernel(1, 100), counting_kernel(2, 101)},
                   {{100, worth}, {1, 1}, {900, worth}}, 1001);
  constexpr int64_t kTimes = 50;
  for (int64_t i = 0; i < kTimes; ++i) kernels.launch();
  CHECK(std::all_of(kernels.values(), kernels.values() + 1001, [](int64_t n) { return n == kTimes; }));
  cpu::thread_pool().parallel_for(0, 2, 1, [&](int64_t begin, int64_t end) {  // the pool is busy, or has one thread
    if (begin == 0) kernels.launch();
    return static_cast<int>(end < 0);
  });
  CHECK(std::all_of(kernels.values(), kernels.values() + 1001, [](int64_t n) { return n == kTimes + 1; }));
}
