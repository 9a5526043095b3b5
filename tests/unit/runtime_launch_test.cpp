// A launch of several kernels: which piece of them is taken next.
#include "catch.h"
#include "runtime/cpu/pool.h"
#include "runtime/cpu/run.h"
#include "runtime/sanitizer.h"
#include "unit/runtime_support.h"

#include <array>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;

namespace {

/// Notes its number and the first of its points.
KernelSource noting_kernel(int number) {
  return {fmt::format("k_note_{}", number), fmt::format(R"(
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

}  // namespace

TEST_CASE("of uneven pieces that run side by side the longest one goes first, whichever kernel's it is", "[runtime]") {
  if (kSanitizer == Sanitizer::Thread) return;  // cuts every launch, however short
  const FreshCache cache;
  const Setting threads("SINTER_THREADS", "1");  // so that one comes after the other
  constexpr double kWorth = 2000;                // ns of what is worth a thread: kPieceTime of runtime/load.cpp
  const std::array<double, 3> worth{1.5, 10, 7};  // of kernels of ten points, which are cut by four, but not below what is worth a thread
  std::vector<KernelSource> sources;
  Plan plan;
  plan.buffers = {{PlanBuffer::Kind::Slot, DType::I64, {{64, -1}}, 64 * 8, 0, 0}};
  for (int i = 0; i < 3; ++i) {
    sources.push_back(noting_kernel(i));
    plan.steps.push_back({i, {0}, {}, {}, {{10, -1}}, {}, kWorth * worth[static_cast<size_t>(i)]});
    plan.work.push_back({{}, {{}}});
  }
  plan.launches = {3};
  plan.programs = compile(sources, host_target());
  const ArenaLayout layout = lay_out(plan);
  cpu::Run run(plan, layout);
  const auto buffer = Buffer::allocate(64 * 8);
  std::fill_n(buffer->as<int64_t>(), 64, 0);
  Buffer* const slots[] = {buffer.get()};
  run.bind(slots, {}, {});
  run.launch(0, 3);
  const int64_t* notes = buffer->as<int64_t>();
  std::vector<std::array<int64_t, 3>> taken;
  for (int64_t i = 0; i < notes[0]; ++i) taken.push_back({notes[1 + 3 * i], notes[2 + 3 * i], notes[3 + 3 * i]});
  CHECK(taken == std::vector<std::array<int64_t, 3>>{{1, 0, 3}, {1, 3, 6}, {1, 6, 9}, {2, 0, 3}, {2, 3, 6}, {2, 6, 9},
                                                     {1, 9, 10}, {0, 0, 6}, {2, 9, 10}, {0, 6, 10}});
}
