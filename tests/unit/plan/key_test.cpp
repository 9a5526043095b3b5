// What decides a plan and what does not: names of variables, the Target at the moment of the call, the compiler.
#include <fstream>

#include "catch.h"
#include "plan/plan_lookup.h"
#include "runtime/base/counters.h"
#include "runtime/base/files.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/program/host_target.h"
#include "sinter/debug.h"
#include "sinter/error.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/runtime_support.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// Plans not seen before that `program` needs.
template <class F>
uint64_t misses(F program) {
  const uint64_t before = debug::counters().plan_misses;
  program();
  return debug::counters().plan_misses - before;
}

Tensor ones_of(const Dim& size) { return from(std::vector<float>(static_cast<size_t>(size.value()), 1.0f), {size}); }

}  // namespace

TEST_CASE("variables of a plan stay apart whatever their names", "[schedule]") {
  const debug::Executor executor =
      GENERATE(debug::Executor::Interpreter, debug::Executor::Unfused, debug::Executor::Compiled);
  debug::set_executor(executor);
  // The second value of b and the first of b' were once one variable.
  const Var b("b", 1, 100), primed("b'", 1, 100);
  const Tensor x = ones_of(primed(80)), y = ones_of(b(4)), z = ones_of(b(6));
  CHECK((x.sum() + (y.sum() * 10.0f + z.sum() * 100.0f)).item() == 720);
  CHECK(((x * 2.0f).sum() + (y * 3.0f).sum() * 10.0f + (z * 2.0f).sum() * 100.0f).item() == 160 + 120 + 1200);
  debug::set_executor(debug::Executor::Compiled);
}

TEST_CASE("scratch for a size whose bound no memory holds is OutOfMemory", "[schedule]") {
  for (int bits : {46, 50, 54}) {
    const Var n("n", 1, int64_t{1} << bits);
    const Tensor x = ones_of(n(8000)), z = [&] {
      const Tensor y = (x * 2.0f).contiguous();  // nobody keeps it: scratch
      return y + y.flip(0);
    }();
    CHECK_THROWS_AS(z.sum().item(), OutOfMemory);
    CHECK(x.sum().item() == 8000);  // needs no scratch
  }
}

TEST_CASE("a plan and its texts do not depend on what variables are called", "[schedule]") {
  const FreshCache cache;
  debug::clear_plans();
  const auto run = [](const std::string& name, int64_t size) {
    CHECK((ones_of(Var(name, 1, 50)(size)) * 3.0f).sum().item() == 3.0 * static_cast<double>(size));
  };
  const std::string hostile = "a\n}; int evil(void) { return 1; } \\";
  CHECK(misses([&] { run("rows", 7); }) == 1);
  CHECK(misses([&] { run("batch", 9); }) == 0);
  CHECK(misses([&] { run(hostile, 11); }) == 0);
  debug::clear_plans();
  const uint64_t compiles = runtime::counters().compiles;
  CHECK(misses([&] { run(hostile, 11); }) == 1);
  CHECK(runtime::counters().compiles == compiles);
  for (const auto& source : cache.folder.files(".c"))
    CHECK_THAT(runtime::read_file(source.string()).value(), !Contains("evil"));
}

TEST_CASE("a plan that is known by its walk stays in the cache, however many others come", "[schedule]") {
  debug::clear_plans();
  const Tensor a = from({1.0f, 2.0f}).realize();
  const auto program = [&] { CHECK((a * 3.0f).sum().item() == 9); };
  program();
  plan::PlanKey other;
  for (size_t i = 0; i < plan::PlanCache::kCapacity; ++i) {
    other.hash = runtime::hash_bytes(std::to_string(i));
    {
      const ir::GraphScope scope;
      plan::PlanCache::get().insert(other, {}, std::make_shared<plan::PlanEntry>());
    }
    if (i % 1000 == 0) program();
  }
  CHECK(debug::counters().plan_entries == plan::PlanCache::kCapacity + 1 - plan::PlanCache::kDropped);
  {
    const ir::GraphScope scope;
    plan::forget_recent();
  }
  CHECK(misses(program) == 0);
  debug::clear_plans();
}

TEST_CASE("a program that ran is known by its walk, unless something that decides has changed", "[schedule]") {
  debug::set_executor(GENERATE(debug::Executor::Interpreter, debug::Executor::Compiled));
  const auto known = [](auto program) {
    const uint64_t before = debug::counters().plans_known;
    program();
    return debug::counters().plans_known - before;
  };
  const auto vec = [](float v) { return from(std::vector<float>(4, v), {4}).realize(); };
  const Tensor a = vec(2), b = vec(3);
  const auto product = [](const Tensor& x, const Tensor& y) { return (x * y).sum().item(); };
  product(a, b);  // compiled, then looked up
  CHECK(known([&] { CHECK(product(a, b) == 24); }) == 1);
  CHECK(known([&] { CHECK(product(b, vec(5)) == 60); }) == 1);  // other storages
  CHECK(known([&] { CHECK(product(a, a) == 16); }) == 0);       // one storage twice
  CHECK(known([&] { CHECK(product(a.to(float64), b) == 24); }) == 0);
  CHECK(known([&] { CHECK((a.slice(0, {1, 3}) * b.slice(0, {1, 3})).sum().item() == 12); }) == 0);
  const auto part = [&](int64_t from) {
    return (a.slice(0, {from, from + 2}) * b.slice(0, {from, from + 2})).sum().item();
  };
  part(1), part(1);
  CHECK(known([&] { CHECK(part(1) == 12); }) == 1);
  CHECK(known([&] { CHECK(part(2) == 12); }) == 0);
  const Var size("size", 1, 8);
  const auto sized = [&](int64_t n) { return (ones_of(size(n)) * 2.0f).sum().item(); };
  sized(3), sized(3);
  CHECK(known([&] { CHECK(sized(3) == 6); }) == 1);
  CHECK(known([&] { CHECK(sized(5) == 10); }) == 0);
  // What is a launch argument may be another number.
  const auto scaled = [&](double by) { return (a * number(by)).sum().item(); };
  scaled(1.5), scaled(1.5);
  CHECK(known([&] { CHECK(scaled(2.5) == 20); }) == 1);
  CHECK(known([&] { CHECK(scaled(-1.0) == -8); }) == 1);
  // A number that is written out decides.
  const auto plus = [&](double by) { return (a + by).sum().item(); };
  plus(1), plus(1);
  CHECK(known([&] { CHECK(plus(2) == 16); }) == 0);
  // The same graph, but somebody holds what lies in the middle: it is stored too.
  const auto through = [&](bool hold) {
    Tensor middle = exp(a * 0.0f);
    Tensor held = hold ? middle : Tensor();
    Tensor out = middle.sum();
    middle = {};
    CHECK(out.item() == 4);
    return held;
  };
  through(false), through(false);
  CHECK(known([&] { through(false); }) == 1);
  CHECK(known([&] { through(true); }) == 0);
  // The same graph over memory that may be written in place, and that may not.
  const auto step = [](Tensor& x) {
    x += 1.0f;
    x.realize();
  };
  Tensor x = vec(1), y = vec(1);
  step(x), step(x);
  CHECK(known([&] { step(x); }) == 1);
  const Tensor view = y.reshape({2, 2});
  CHECK(known([&] { step(y); }) == 0);
  CHECK(view.sum().item() == 4);
  CHECK((x.sum().item() == 16 && y.sum().item() == 8));
  debug::clear_plans();
  CHECK(known([&] { product(a, b); }) == 0);
  debug::set_executor(debug::Executor::Compiled);
}

TEST_CASE("kernels that differ in the variable's number are one body", "[schedule]") {
  schedule::testing::Program p;
  for (const char* name : {"n", "m", "k"}) {
    const ir::UOp x = p.slot({Var(name, 1, 64)(64), 5});
    p.store(ir::exp(x));
    p.store(ir::shrink(x, {{0, 1}, {0, 5}}) * 2.0);  // its size stands in the shape alone
  }
  const schedule::KernelSchedule s = schedule::schedule(p.plan, runtime::reference_target());
  CHECK(s.kernels.size() < s.plan.steps.size());
  const size_t each = s.plan.steps.size() / 3;
  CHECK(s.kernels.size() == each);
}

TEST_CASE("a plan is for the Target of its call", "[schedule]") {
  debug::clear_plans();
  const auto program = [] { CHECK((ones({64, 64}) * 2.5f).sum().item() == 2.5 * 64 * 64); };
  {
    const ScopedEnv threads("SINTER_THREADS", "1");
    CHECK(misses(program) == 1);
  }
  const ScopedEnv threads("SINTER_THREADS", "3");
  CHECK(misses(program) == 1);  // decided for one thread before
  CHECK(misses(program) == 0);
}

TEST_CASE("a kernel that two Targets share is compiled once", "[runtime]") {
  const FreshCache cache;
  runtime::Target target = runtime::host_target();
  const runtime::KernelSource kernel = scale_kernel("k_targets", 2);
  const auto first = runtime::compile({&kernel, 1}, target).at(0);
  target.threads += 5;
  target.l2 *= 2;
  CHECK(runtime::compile({&kernel, 1}, target).at(0) == first);
  target.isa = target.isa == "x86-64" ? "x86-64-v2" : "x86-64";
  CHECK(runtime::compile({&kernel, 1}, target).at(0) != first);
}

TEST_CASE("the plugin's name holds the versions of the files that compile", "[runtime]") {
  const FreshCache cache;
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  const auto plugin = runtime::cpu::plugin_compiler();
  if (!plugin) SKIP_TEST("no Clang plugin");
  compile_one(scale_kernel("k_opens_plugin", 1));
  const std::string id = plugin->id(runtime::host_target());
  int seen = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* name : {"libsinter_clang", "libLLVM", "libclang-cpp"}) {
      const size_t path = line.find('/');
      if (path == std::string::npos || line.find(name, path) == std::string::npos) continue;
      CHECK_THAT(id, Contains(runtime::stamp_of(line.substr(path))));
      ++seen;
    }
  CHECK(seen >= 3);
}
