// Launches as a graph: when there is one, what it is told, and that it computes what single launches do.
#include "catch.h"

#include <fmt/core.h>

#include <set>

#include "runtime/exec/cuda_execution.h"
#include "runtime/exec/launch_graph.h"
#include "runtime/program/program.h"
#include "sinter/error.h"
#include "unit/cuda_fake.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace cuda_test;
using Catch::Matchers::Contains;
using runtime::KernelSource;

namespace {

using Words = std::vector<std::string>;

struct Kernels {
  Kernels() {
    for (const char* name : {"a", "b", "c"}) {
      KernelSource source{.name = name, .text = ""};
      source.threads = 64;
      images.push_back(std::make_unique<Image>(source, fmt::format("{}/1", name)));
    }
  }
  const DeviceKernel& operator[](char name) const {
    return images[static_cast<size_t>(name - 'a')]->load_on(*Context::get(0)).main;
  }
  std::vector<std::unique_ptr<Image>> images;
};

}  // namespace

TEST_CASE("a list of launches becomes a graph at its second run, and hears only of what changed", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  std::vector<uint64_t> seen;
  for (const char* name : {"a", "b", "c"})
    driver->kernels[name] = [&](const std::vector<uint64_t>& p, unsigned blocks) {
      seen.push_back(1000 * blocks + p[0]);
    };
  const Kernels kernel;
  LaunchGraph list(context);
  const auto record = [&](std::vector<uint64_t> numbers, int64_t blocks) {
    list.begin();
    list.add(kernel['a'], blocks, std::span(numbers).subspan(0, 1));
    list.add(kernel['b'], 2, std::span(numbers).subspan(1, 1));
    list.barrier();
    list.add(kernel['c'], 0, std::span(numbers).subspan(2, 1));  // nothing to do
    list.add(kernel['c'], 3, std::span(numbers).subspan(2, 1));
  };
  const auto run = [&](std::vector<uint64_t> numbers, int64_t blocks = 1) {
    driver->calls.clear();
    seen.clear();
    record(numbers, blocks);
    list.run();
    CHECK(seen == std::vector<uint64_t>{1000 * static_cast<uint64_t>(blocks) + numbers[0], 2000 + numbers[1],
                                        3000 + numbers[2]});
    return driver->calls;
  };
  CHECK(run({1, 2, 3}) == Words{"launch a", "launch b", "launch c"});
  CHECK(list.graphs() == 0);
  CHECK(run({1, 2, 3}) == Words{"node a after 0", "node b after 0", "node c after 2", "graph"});
  CHECK(list.graphs() == 1);
  CHECK(list.size() == 3);
  CHECK(run({1, 2, 3}) == Words{"graph"});
  // Memory that comes back every second run: a graph for each.
  CHECK(run({10, 20, 30}) == Words{"node a after 0", "node b after 0", "node c after 2", "graph"});
  CHECK(run({1, 2, 3}) == Words{"graph"});
  CHECK(run({10, 20, 30}, 1) == Words{"graph"});
  CHECK(list.graphs() == 2);
  // Memory that never comes back: no more than four, and then the nearest is told.
  for (uint64_t i = 100; i < 105; ++i) run({i, i, i});
  CHECK(list.graphs() == 4);
  CHECK(run({10, 20, 31}) == Words{"update c", "graph"});
  CHECK(run({10, 20, 31}, 5) == Words{"update a", "graph"});
  CHECK(run({10, 20, 31}, 5) == Words{"graph"});

  // Other kernels, or another order: plain launches, then a graph anew.
  for (int again = 0; again < 2; ++again) {
    driver->calls.clear();
    list.begin();
    list.add(kernel['a'], 5, std::vector<uint64_t>{1});
    list.barrier();
    list.add(kernel['b'], 2, std::vector<uint64_t>{20});
    list.run();
    CHECK(driver->calls ==
          (again ? Words{"node a after 0", "node b after 1", "graph"} : Words{"launch a", "launch b"}));
  }
}

TEST_CASE("a list of one launch is that launch, and of none nothing", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  const Kernels kernel;
  LaunchGraph list(context);
  for (int i = 0; i < 3; ++i) {
    list.begin();
    list.add(kernel['a'], 1, std::vector<uint64_t>{1});
    list.run();
  }
  CHECK(driver->calls == Words{"launch a", "launch a", "launch a"});
  list.begin();
  list.run();
  CHECK(driver->calls.size() == 3);
}

TEST_CASE("a fault in a graph names its kernels, and alone with SINTER_CHECK", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  const Kernels kernel;
  LaunchGraph list(context);
  const auto run = [&] {
    list.begin();
    for (const char name : {'a', 'b'}) list.add(kernel[name], 1, std::vector<uint64_t>{1}), list.barrier();
    list.run();
    context->synchronize();
  };
  const auto failure = [&] {
    try {
      run();
    } catch (const BackendError& error) { return std::string(error.what()); }
    return std::string("no fault");
  };
  run();
  run();
  SECTION("as a graph") {
    driver->kernels["b"] = [&](const auto&, unsigned) { driver->fault = CudaResult::IllegalAddress; };
    CHECK_THAT(failure(), Contains("in kernel a, b (a graph of 2 kernels)"));
  }
  SECTION("one by one") {
    const runtime_test::ScopedEnv check("SINTER_CHECK", "1");
    driver->kernels["b"] = [&](const auto&, unsigned) { driver->fault = CudaResult::IllegalAddress; };
    CHECK_THAT(failure(), Contains("in kernel b;") && !Contains("graph"));
  }
  CHECK_THAT(failure(), Contains("cannot be used any more"));
}

TEST_CASE("launches that a run leaves out do not cost the others their graph", "[cuda][keep]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  runtime::Plan plan;
  plan.device = Device::cuda(0);
  plan.buffers = {{runtime::PlanBuffer::Kind::Slot, DType::F32, {{64, -1}}, 64 * 4, 0, 0}};
  for (const char* name : {"a", "b", "c"}) {
    KernelSource source{.name = name, .text = ""};
    source.threads = 64;
    auto image = std::make_unique<Image>(source, fmt::format("{}/1", name));
    const auto number = static_cast<int>(plan.steps.size());
    plan.programs.push_back(std::make_shared<runtime::Program>(
        source, runtime::Hash128{static_cast<uint64_t>(number), 1}, std::move(image)));
    plan.steps.push_back({number, {0}, {}, {}, {{10, -1}}, {}, 0});
    plan.work.push_back({{}, {{}}});
  }
  plan.launches = {1, 1, 1};
  plan.invariant_launches = {{0}};
  const runtime::ExecutablePlan executable(plan, {});
  LaunchGraphPool graphs;
  CudaExecution run(graphs, executable);
  const auto buffer = runtime::Buffer::allocate(64 * 4, plan.device);
  const auto calls = [&](bool same) {
    driver->calls.clear();
    runtime::Bindings bindings;
    bindings.slots.push_back(buffer.get());
    bindings.unchanged_slots = {same};
    run.bind(bindings);
    run.run();
    run.unbind();
    return driver->calls;
  };
  CHECK(calls(false) == Words{"launch a", "launch b", "launch c"});
  CHECK(calls(true) == Words{"node b after 0", "node c after 1", "graph"});
  for (int i = 0; i < 3; ++i) {
    CHECK(calls(false) == Words{"launch a", "graph"});
    CHECK(calls(true) == Words{"graph"});
  }
}

TEST_CASE("launches that may run at once count in different words", "[cuda]") {
  FakeDriver driver;
  runtime::Plan plan;
  plan.device = Device::cuda(0);
  plan.buffers = {{runtime::PlanBuffer::Kind::Slot, DType::F32, {{64, -1}}, 64 * 4, 0, 0}};
  std::set<uint64_t> words;
  for (const char* name : {"a", "b", "c"}) {
    KernelSource source{.name = name, .text = "", .threads = 64, .takes_tickets = true};
    auto image = std::make_unique<Image>(source, fmt::format("{}/3", name));
    driver->kernels[name] = [&](const std::vector<uint64_t>& p, unsigned) { words.insert(p[2]); };
    const auto number = static_cast<int>(plan.steps.size());
    plan.programs.push_back(std::make_shared<runtime::Program>(
        source, runtime::Hash128{static_cast<uint64_t>(number), 2}, std::move(image)));
    plan.steps.push_back({number, {0}, {}, {}, {{10, -1}}, {}, 0});
    plan.work.push_back({{}, {{}}});
  }
  plan.launches = {3};
  const runtime::ExecutablePlan executable(plan, {});
  LaunchGraphPool graphs;
  CudaExecution run(graphs, executable);
  const auto buffer = runtime::Buffer::allocate(64 * 4, plan.device);
  for (int again = 0; again < 3; ++again) {  // one by one, then as a graph
    runtime::Bindings bindings;
    bindings.slots.push_back(buffer.get());
    bindings.unchanged_slots = {false};
    run.bind(bindings);
    run.run();
    run.unbind();
    CHECK(words.size() == 3);  // the same ones in every run
  }
}

TEST_CASE("the words in which blocks count are cleared once, and stay where they are", "[cuda]") {
  FakeDriver driver;
  {
    const auto context = Context::get(0);
    LaunchGraph list(context), other(context);
    const DevicePointer tickets = list.tickets(2);
    CHECK(other.tickets(2) != tickets);
    std::vector<uint32_t> words(2, 7);
    context->copy_to_host(words.data(), tickets, 8);
    CHECK(words == std::vector<uint32_t>{0, 0});
    words = {3, 4};
    context->copy_to_device(tickets, words.data(), 8);
    list.begin();
    list.run();
    CHECK(list.tickets(2) == tickets);
    CHECK(list.tickets(1) == tickets);
    words = {0, 0};
    context->copy_to_host(words.data(), tickets, 8);
    CHECK(words == std::vector<uint32_t>{3, 4});
  }
  forget_devices();
  CHECK(driver->alive() == 0);
}

TEST_CASE("words that cannot be cleared are not given out", "[cuda]") {
  FakeDriver driver;
  {
    const auto context = Context::get(0);
    LaunchGraph(context).tickets(2);  // memory that is there without a call of the driver
    LaunchGraph list(context);
    driver->fault = CudaResult::InvalidValue;
    for (int again = 0; again < 2; ++again) {
      CHECK_THROWS_AS(list.tickets(2), BackendError);
      CHECK(context->allocator().live() == 0);
    }
  }
  driver->fault = CudaResult::Success;
  forget_devices();
  CHECK(driver->alive() == 0);
}

TEST_CASE("graphs leave nothing behind", "[cuda]") {
  FakeDriver driver;
  {
    const auto context = Context::get(0);
    const Kernels kernel;
    for (int i = 0; i < 100; ++i) {
      LaunchGraph list(context);
      for (int run = 0; run < 100; ++run) {
        list.begin();
        list.add(kernel['a'], 1, std::vector<uint64_t>{static_cast<uint64_t>(run)});
        list.add(run % 10 == 9 ? kernel['b'] : kernel['c'], 1, std::vector<uint64_t>{1});
        list.run();
      }
      CHECK(driver->graphs <= 4);
      driver->calls.clear();
    }
    CHECK(driver->graphs == 0);
  }
  forget_devices();
  CHECK(driver->alive() == 0);
}
