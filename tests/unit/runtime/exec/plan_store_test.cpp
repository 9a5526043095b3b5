// Plans in the cache folder: bytes read with distrust, and programs that run from them alone.
#include "catch.h"
#include "planted_faults.h"
#include "runtime/base/counters.h"
#include "runtime/base/subprocess.h"
#include "runtime/exec/plan_bytes.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// A program of two launches with scratch, an argument and a symbolic size.
std::vector<float> run_program(int64_t rows) {
  const Var batch("batch", 1, 8);
  std::vector<float> numbers(static_cast<size_t>(rows) * 40);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7);
  const Tensor x = from(numbers.data(), {batch(rows), 40});
  const Tensor y = matmul(x, x.sum(0, true).contiguous().transpose()) * number(0.5);
  return relu(y - 3.0).to_vector<float>();
}

/// As a new process finds it: nothing in memory, all in the cache folder.
void forget() {
  debug::clear_plans();
  forget_programs();
}

struct Done {
  uint64_t partitions = debug::counters().partition_runs, compiles = debug::counters().compiles;
  uint64_t misses = debug::counters().plan_misses;
};

std::vector<std::filesystem::path> plans_in(const Folder& folder) {
  std::vector<std::filesystem::path> found = folder.files(".o");
  std::erase_if(found, [](const auto& file) { return !file.filename().string().starts_with("plan-"); });
  return found;
}

StoredPlan some_plan() {
  StoredPlan s;
  s.plan.device = Device::cuda(3);
  s.plan.buffers = {{PlanBuffer::Kind::Slot, float32, {{4, -1}, {0, 0}}, 64, 0, 0},
                    {PlanBuffer::Kind::Scratch, int64, {{2, -1}}, 16, 0, 1}};
  s.plan.steps = {{0, {0, 1}, {0}, {1}, {{4, -1}}, {1}, 2.5}, {1, {1}, {}, {}, {}, {1}, 0}};
  s.plan.launches = {1, 1};
  s.plan.work = {{{{{2, {0}}}}, {{}, {{{1, {}}}}}}, {{}, {{}}}};
  s.plan.outputs = {1};
  s.plan.raises_errors = true;
  s.kernels = {{.name = "a", .text = "", .has_epilogue = true, .blocks = {4, 2}, .scratch = 64},
               {.name = "b", .text = "", .threads = 32, .takes_tickets = true}};
  s.keys = {{1, 2}, {3, 4}};
  return s;
}

/// Each buffer and kernel that it names.
bool names_what_is_there(const StoredPlan& s) {
  const auto buffers = static_cast<int>(s.plan.buffers.size()), kernels = static_cast<int>(s.kernels.size());
  bool there = s.keys.size() == s.kernels.size() && s.plan.work.size() == s.kernels.size();
  const auto check = [&](const std::vector<int>& numbers) {
    for (int n : numbers) there &= 0 <= n && n < buffers;
  };
  for (const PlanStep& step : s.plan.steps) {
    check(step.buffers);
    check(step.writes);
    there = there && 0 <= step.program && step.program < kernels &&
            s.plan.work[static_cast<size_t>(step.program)].accesses.size() == step.buffers.size();
  }
  check(s.plan.outputs);
  int steps = 0;
  for (int n : s.plan.launches) there &= n >= 0, steps += n;
  return there && steps == static_cast<int>(s.plan.steps.size());
}

}  // namespace

TEST_CASE("a plan comes back from its bytes", "[runtime][plans]") {
  const std::string bytes = to_bytes(some_plan());
  const std::optional<StoredPlan> back = plan_from_bytes(bytes);
  REQUIRE(back);
  CHECK(to_bytes(*back) == bytes);
  CHECK(back->plan.device == Device::cuda(3));
  CHECK(to_string(back->plan) == to_string(some_plan().plan));
  CHECK(back->kernels[0].blocks == std::vector<int64_t>{4, 2});
  CHECK((back->kernels[0].has_epilogue && !back->kernels[0].takes_tickets));
  CHECK((back->kernels[1].takes_tickets && !back->kernels[1].has_epilogue));
  CHECK(back->keys[1] == Hash128{3, 4});
}

TEST_CASE("other bytes are no plan", "[runtime][plans]") {
  const std::string bytes = to_bytes(some_plan());
  for (size_t n = 0; n < bytes.size(); ++n) CHECK_FALSE(plan_from_bytes(bytes.substr(0, n)));
  CHECK_FALSE(plan_from_bytes(bytes + '\0'));
  std::string other = bytes;
  ++other[4 + kPlanFormat.size() - 1];  // the version
  CHECK_FALSE(plan_from_bytes(other));
  // Whatever a bit does, what is read back names only buffers and kernels that are there.
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    if (const auto plan = plan_from_bytes(flipped)) CHECK(names_what_is_there(*plan));
  }
  const auto refused = [](auto change) {
    StoredPlan plan = some_plan();
    change(plan);
    return !plan_from_bytes(to_bytes(plan));
  };
  CHECK(refused([](StoredPlan& s) { s.plan.steps[0].program = 2; }));
  CHECK(refused([](StoredPlan& s) { s.plan.steps[0].buffers[1] = 2; }));
  CHECK(refused([](StoredPlan& s) { s.plan.steps[0].writes[0] = -1; }));
  CHECK(refused([](StoredPlan& s) { s.plan.outputs[0] = 2; }));
  CHECK(refused([](StoredPlan& s) { s.plan.launches = {1}; }));
  CHECK(refused([](StoredPlan& s) { s.plan.work.pop_back(); }));
  CHECK(refused([](StoredPlan& s) { s.keys.pop_back(); }));
  CHECK(refused([](StoredPlan& s) { s.plan.buffers[0].kind = static_cast<PlanBuffer::Kind>(3); }));
}

TEST_CASE("a program that an earlier process ran is neither scheduled nor compiled", "[runtime][plans]") {
  const FreshCache cache;
  forget();
  const std::vector<float> want = run_program(5), more = run_program(8);
  REQUIRE(plans_in(cache.folder).size() == 1);
  forget();
  const Done before;
  CHECK(run_program(5) == want);
  CHECK(run_program(8) == more);  // the same plan
  const Done after;
  CHECK(after.misses == before.misses + 1);
  CHECK(after.partitions == before.partitions);
  CHECK(after.compiles == before.compiles);
}

TEST_CASE("a plan that is damaged, or lacks a kernel, is made anew", "[runtime][plans]") {
  const FreshCache cache;
  forget();
  const std::vector<float> want = run_program(5);
  const auto entry = plans_in(cache.folder).at(0);
  const std::string good = slurp(entry);
  const auto again = [&] {
    forget();
    const Done before;
    CHECK(run_program(5) == want);
    return debug::counters().partition_runs - before.partitions;
  };
  CHECK(again() == 0);
  std::vector<std::string> bad = {"", good.substr(0, good.size() / 2), good + "x"};
  for (size_t at = 0; at < good.size(); at += 37) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 0x10);
  }
  for (const std::string& bytes : bad) {
    std::ofstream(entry, std::ios::binary | std::ios::trunc) << bytes;
    CHECK(again() == 1);
    CHECK(slurp(entry) == good);  // it was stored again
  }
  for (const auto& file : cache.folder.files(".o"))
    if (file != entry) {
      std::filesystem::remove(file);
      CHECK(again() == 1);
    }
  CHECK(again() == 0);
}

TEST_CASE("who looks at how plans are made sees them made", "[runtime][plans]") {
  const FreshCache cache;
  forget();
  const std::vector<float> want = run_program(5);
  const auto partitions = [&] {
    forget();
    const Done before;
    CHECK(run_program(5) == want);
    return debug::counters().partition_runs - before.partitions;
  };
  {
    const ScopedEnv check("SINTER_CHECK", "1");
    CHECK(partitions() == 1);
  }
  {
    const ScopedEnv level("DEBUG", "3");
    CapturedLog captured;
    CHECK(partitions() == 1);
  }
  {
    const sinter::testing::PlantedFaults faults;
    faults->skip_stored_plans = true;
    CHECK(partitions() == 1);
  }
  CHECK(partitions() == 0);
}

TEST_CASE("a number that is no argument is part of the plan", "[runtime][plans]") {
  const FreshCache cache;
  const auto scaled = [](double by) {
    forget();  // whoever knew another value would make it an argument
    return (from({1.0, 2.0}) * by).to_vector<float>();
  };
  CHECK(scaled(3) == std::vector<float>{3, 6});
  CHECK(scaled(5) == std::vector<float>{5, 10});
  CHECK(plans_in(cache.folder).size() == 2);
  const Done before;
  CHECK(scaled(3) == std::vector<float>{3, 6});
  CHECK(debug::counters().partition_runs == before.partitions);
}

TEST_CASE("child: runs a program from a warm cache", "[.][plans-child]") {
  const Done before;
  CHECK(run_program(5).size() == 5);
  const Done after;
  CHECK(after.partitions == before.partitions);
  CHECK(after.compiles == before.compiles);
  CHECK_THAT(slurp("/proc/self/maps"), !Contains("libLLVM") && !Contains("sinter_clang"));
}

TEST_CASE("with a warm cache a process opens no compiler and draws no kernel", "[runtime][plans]") {
  const FreshCache cache;
  forget();
  run_program(5);
  const Folder folder;
  const int status =
      cpu::run_process({"/proc/self/exe", "child: runs a program from a warm cache"}, folder.path() + "/output");
  INFO(slurp(folder.path() + "/output"));
  CHECK(status == 0);
}
