// Wrong kernels do not stay unseen: memory that two launches claim, and, in the sanitizers' builds, an access out of
// bounds, undefined behaviour and a race, each in a child process that must end with the sanitizer's report.
#include "runtime/base/sanitizer.h"
#include "catch.h"
#include "runtime/base/files.h"
#include "runtime/base/subprocess.h"
#include "runtime/exec/arena.h"
#include "runtime/exec/cpu_execution.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// A kernel with this body; `x` and `y` are buffers 1 and 2 as floats.
std::shared_ptr<const Program> kernel(const std::string& name, const std::string& body) {
  return compile_one({name,
                      fmt::format("int {}(void* const* bufs, const long* vars, long begin, long end) {{\n"
                                  "  float* x = bufs[1];\n  float* y = bufs[2];\n{}\n  return 0;\n}}\n",
                                  name, body),
                      false});
}

/// One launch over 0..4096 on two buffers of the arena, 1000 floats each, the second of which it writes, while `others`
/// more of that size lie beside them.
Plan two_buffers(std::shared_ptr<const Program> program, int others = 0) {
  Plan plan;
  PlanBuffer buffer;
  buffer.kind = PlanBuffer::Kind::Scratch;
  buffer.shape = {PlanDim{1000}};
  buffer.bound_bytes = 4000;
  plan.buffers.assign(static_cast<size_t>(2 + others), buffer);
  plan.programs = {std::move(program)};
  plan.work = {KernelWork{{}, std::vector<SizePolynomial>(2, SizePolynomial{{{1000, {}}}})}};
  PlanStep step;
  step.buffers = {0, 1};
  step.writes = {1};
  step.outer = {PlanDim{4096}};
  plan.steps = {step};
  plan.launches = {1};
  return plan;
}

void run(const Plan& plan, const std::vector<Buffer*>& slots = {}, const std::vector<int64_t>& vars = {}) {
  const ExecutablePlan executable(plan, {});
  cpu::CpuExecution run(executable);
  Bindings bindings;
  for (Buffer* b : slots) bindings.slots.push_back(b);
  bindings.vars = vars;
  run.bind(bindings);
  run.run();
}

/// Such a kernel called with x and y, 1000 floats each, over 0..1000.
void call(const std::string& name, const std::string& body) {
  auto x = Buffer::allocate(4000), y = Buffer::allocate(4000);
  void* bufs[] = {nullptr, x->data(), y->data()};
  kernel(name, body)->entry()(bufs, nullptr, 0, 1000);
}

/// What this executable prints when it runs the test of this name, on two threads; the run must fail.
std::string failing_child(const std::string& test) {
  const ScopedEnv threads("SINTER_THREADS", "2");
  const cpu::TemporaryFolder folder;
  CHECK(cpu::run_process({"/proc/self/exe", test}, folder.file("output")) != 0);
  return read_file(folder.file("output")).value_or("");
}

}  // namespace

TEST_CASE("a launch must not write where another buffer of it lies", "[runtime][sanitizer]") {
  const ScopedEnv check("SINTER_CHECK", "1");
  Plan plan = two_buffers(kernel("k_copy", "  for (long i = begin; i < end; ++i) if (i < 1000) y[i] = x[i];"));
  CHECK_NOTHROW(run(plan));
  for (PlanBuffer& b : plan.buffers) b.kind = PlanBuffer::Kind::Slot;
  auto x = Buffer::allocate(8000);
  auto y = Buffer::wrap(x->as<std::byte>() + 3968, 4000, nullptr);
  CHECK_THROWS_AS(run(plan, {x.get(), y.get()}), InternalError);
  CHECK_THROWS_WITH(run(plan, {x.get(), y.get()}), Contains("k_copy") && Contains("4000 bytes"));
}

TEST_CASE("launches that run at once must not write what the other uses", "[runtime][sanitizer]") {
  const ScopedEnv check("SINTER_CHECK", "1");
  auto shared = Buffer::allocate(4000), own = Buffer::allocate(4000), other = Buffer::allocate(4000);
  int32_t state[2] = {};  // started, go on
  auto flags = Buffer::wrap(state, sizeof state, nullptr);
  Plan waits = two_buffers(kernel("k_waits",
                                  "  int* flags = bufs[1];\n"
                                  "  __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);\n"
                                  "  while (!__atomic_load_n(&flags[1], __ATOMIC_ACQUIRE)) {}"));
  Plan copies = two_buffers(kernel("k_copies", "  for (long i = begin; i < end; ++i) if (i < 1000) y[i] = x[i];"));
  for (Plan* plan : {&waits, &copies})
    for (PlanBuffer& b : plan->buffers) b.kind = PlanBuffer::Kind::Slot;
  waits.buffers[0].shape = {PlanDim{2}};

  std::thread thread([&] { run(waits, {flags.get(), shared.get()}); });
  while (!__atomic_load_n(&state[0], __ATOMIC_ACQUIRE)) std::this_thread::yield();
  const auto copy = [&](Buffer* from, Buffer* to) { run(copies, {from, to}); };
  CHECK_THROWS_WITH(copy(own.get(), shared.get()), Contains("k_copies") && Contains("k_waits"));
  CHECK_THROWS_AS(copy(shared.get(), own.get()), InternalError);
  CHECK_NOTHROW(copy(own.get(), other.get()));
  __atomic_store_n(&state[1], 1, __ATOMIC_RELEASE);
  thread.join();
  CHECK_NOTHROW(copy(own.get(), shared.get()));
}

// What the children run, each in the one build that sees it. Hidden: elsewhere these touch memory that is not theirs.
TEST_CASE("wrong kernel: reads one element beyond", "[.wrong]") {
  call("k_reads", "  for (long i = begin; i <= end; ++i) y[i - (i == end)] = x[i];");
}
TEST_CASE("wrong kernel: writes one element beyond", "[.wrong]") {
  call("k_writes", "  for (long i = begin; i <= end; ++i) y[i] = x[i - (i == end)];");
}
TEST_CASE("wrong kernel: reads a vector over the end", "[.wrong]") {
  call("k_vector",
       "  typedef float v4 __attribute__((vector_size(16), aligned(4)));\n"
       "  for (long i = begin; i < end; i += 3) *(v4*)(y + (i + 4 > end ? 0 : i)) = *(v4*)(x + i);");
}
TEST_CASE("wrong kernel: writes before a large buffer", "[.wrong]") {
  auto y = Buffer::allocate(4 << 20);
  void* bufs[] = {nullptr, y->data(), y->data()};
  kernel("k_before", "  for (long i = begin; i < end; ++i) y[i - 1] = 1;")->entry()(bufs, nullptr, 0, 1000);
}
TEST_CASE("wrong kernel: writes between buffers of the arena", "[.wrong]") {
  run(two_buffers(kernel("k_between", "  for (long i = begin; i < end; ++i) if (i < 1001) x[i] = 1;")));
}
TEST_CASE("wrong kernel: writes a buffer of the arena that is not its own", "[.wrong]") {
  Plan plan = two_buffers(kernel("k_other", "  if (!begin) y[vars[0]] = 1;"), 1);
  plan.steps[0].vars = {0};
  const ArenaLayout layout = lay_out(plan);
  run(plan, {}, {(layout.offsets[2] - layout.offsets[1]) / 4 + 500});  // the middle of the other
}
TEST_CASE("wrong kernel: uses memory that was given back", "[.wrong]") {
  auto x = Buffer::allocate(4000);
  void* bufs[] = {nullptr, x->data(), x->data()};
  const auto late = kernel("k_given_back", "  for (long i = begin; i < end; ++i) y[i] = 1;");
  x.reset();
  late->entry()(bufs, nullptr, 0, 1000);
}
TEST_CASE("wrong kernel: shifts too far", "[.wrong]") { call("k_shift", "  y[0] = 1 << (end - 900);"); }
TEST_CASE("wrong kernel: all chunks write one element", "[.wrong]") {
  // The first chunk waits a while for one on another thread; what it counts with orders nothing.
  Plan plan = two_buffers(kernel("k_race",
                                 "  int* begun = bufs[1];\n"
                                 "  __atomic_fetch_add(begun, 1, __ATOMIC_RELAXED);\n"
                                 "  for (long i = 0; i < 30000000; ++i)\n"
                                 "    if (__atomic_load_n(begun, __ATOMIC_RELAXED) > 1) break;\n"
                                 "  y[0] += 1;"));
  for (PlanBuffer& b : plan.buffers) b.kind = PlanBuffer::Kind::Slot;
  auto begun = Buffer::allocate(4000), sum = Buffer::allocate(4000);
  for (int i = 0; i < 20; ++i) {
    *begun->as<int32_t>() = 0;
    run(plan, {begun.get(), sum.get()});
  }
}

TEST_CASE("wrong kernels are caught by the sanitizer of the build", "[runtime][sanitizer]") {
  if (kSanitizer == Sanitizer::None) SKIP_TEST("not a sanitizer's build");
  if (kSanitizer == Sanitizer::Address) {
    for (const char* what : {"reads one element beyond", "writes one element beyond", "reads a vector over the end",
                             "writes before a large buffer", "writes between buffers of the arena",
                             "writes a buffer of the arena that is not its own", "uses memory that was given back"})
      CHECK_THAT(failing_child(std::string("wrong kernel: ") + what), Contains("AddressSanitizer: use-after-poison"));
    CHECK_THAT(failing_child("wrong kernel: shifts too far"), Contains("ILL"));
  }
  if (kSanitizer == Sanitizer::Thread)
    CHECK_THAT(failing_child("wrong kernel: all chunks write one element"), Contains("ThreadSanitizer: data race"));
}
