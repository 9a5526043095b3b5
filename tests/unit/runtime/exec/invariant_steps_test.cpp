// Which steps of a plan run once while what they read stays.
#include "runtime/exec/invariant_steps.h"
#include "catch.h"

using namespace sinter;
using runtime::Plan;
using runtime::PlanBuffer;
using runtime::PlanStep;
using Kind = PlanBuffer::Kind;

namespace {

PlanBuffer buffer(Kind kind) { return {kind, float32, {{16, -1}}, 64, 0, 0}; }

/// A kernel that reads some buffers and stores another; `program` tells them apart.
PlanStep step(int program, std::vector<int> reads, int to, std::vector<int> args = {}) {
  PlanStep s{program, {to}, {}, std::move(args), {{1, -1}}, {to}, 1};
  s.buffers.insert(s.buffers.end(), reads.begin(), reads.end());
  return s;
}

std::vector<int> programs(const Plan& plan) {
  std::vector<int> out;
  for (const PlanStep& s : plan.steps) out.push_back(s.program);
  return out;
}

/// Slots x, w and v, an output, three scratch buffers.
Plan plan_of(std::vector<PlanStep> steps, std::vector<int> launches) {
  Plan plan;
  for (Kind kind : {Kind::Slot, Kind::Slot, Kind::Slot, Kind::Output, Kind::Scratch, Kind::Scratch, Kind::Scratch})
    plan.buffers.push_back(buffer(kind));
  plan.steps = std::move(steps);
  plan.launches = std::move(launches);
  return plan;
}

constexpr int kX = 0, kW = 1, kV = 2, kOut = 3, kA = 4, kB = 5, kC = 6;
const runtime::InvariantInputs kNotX{{0, 1, 1}, {1, 0}};
using Slots = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("steps that read only what stays come first, and what later ones read of theirs is kept", "[keep]") {
  // 0: a = f(w); beside it 1: b = f(x); 2: c = f(a); 3: out = f(b, c)
  const Plan plan = runtime::hoist_invariants(
      plan_of({step(0, {kW}, kA), step(1, {kX}, kB), step(2, {kA}, kC), step(3, {kB, kC}, kOut)}, {2, 1, 1}), kNotX);
  CHECK(programs(plan) == std::vector<int>{0, 2, 1, 3});
  CHECK(plan.launches == std::vector<int>{1, 1, 1, 1});
  CHECK(plan.invariant_launches == Slots{{kW}, {kW}});
  CHECK(plan.buffers[kA].kind == Kind::Scratch);  // read by nothing that runs again
  CHECK(plan.buffers[kC].kind == Kind::Invariant);
  CHECK(plan.buffers[kB].kind == Kind::Scratch);
  CHECK((plan.buffers[kA].first == 0 && plan.buffers[kA].last == 1));
  CHECK((plan.buffers[kB].first == 2 && plan.buffers[kB].last == 3));
}

TEST_CASE("what stores a result, draws numbers or shares its memory with others runs each time", "[keep]") {
  const auto untouched = [](const Plan& plan) {
    const Plan same = runtime::hoist_invariants(plan, kNotX);
    CHECK(same.invariant_launches.empty());
    CHECK(programs(same) == programs(plan));
    CHECK(same.launches == plan.launches);
  };
  untouched(plan_of({step(0, {kW}, kOut)}, {1}));
  untouched(plan_of({step(0, {kW}, kA, {1}), step(1, {kX, kA}, kOut)}, {1, 1}));
  untouched(plan_of({step(0, {kW}, kX), step(1, {kX, kW}, kOut)}, {1, 1}));
  // Parts of one buffer by two kernels, of which one reads x; and who reads them.
  untouched(plan_of({step(0, {kW}, kA), step(1, {kX}, kA), step(2, {kA}, kB), step(3, {kB}, kOut)}, {2, 1, 1}));
  // A number that stays does not matter.
  CHECK(runtime::hoist_invariants(plan_of({step(0, {kW}, kA, {0}), step(1, {kX, kA}, kOut)}, {1, 1}), kNotX)
            .invariant_launches == Slots{{kW}});
}

TEST_CASE("steps that pass nothing to one another run again each for itself", "[keep]") {
  // a = f(w) beside b = f(v), beside c = f(): three launches of one.
  const std::vector<PlanStep> apart{step(0, {kW}, kA), step(1, {kV}, kB), step(2, {}, kC),
                                    step(3, {kX, kA, kB, kC}, kOut)};
  const Plan three = runtime::hoist_invariants(plan_of(apart, {3, 1}), kNotX);
  CHECK(programs(three) == std::vector<int>{0, 1, 2, 3});
  CHECK(three.launches == std::vector<int>{1, 1, 1, 1});
  CHECK(three.invariant_launches == Slots{{kW}, {kV}, {}});
  CHECK_THAT(runtime::to_string(three),
             Catch::Matchers::Contains("launch 1 again when b2 changed") && Catch::Matchers::Contains("launch 2 once"));

  // c = f(a, v): a lies in the arena, so that what changes c needs a again.
  const std::vector<PlanStep> joined{step(0, {kW}, kA), step(1, {kA, kV}, kC), step(2, {kX, kC}, kOut)};
  const Plan chain = runtime::hoist_invariants(plan_of(joined, {1, 1, 1}), kNotX);
  CHECK(chain.invariant_launches == Slots{{kW, kV}, {kW, kV}});

  // Two that store parts of one buffer, the second over what the first has.
  const std::vector<PlanStep> parts{step(0, {kW}, kA), step(1, {kV}, kA), step(2, {kX, kA}, kOut)};
  CHECK(runtime::hoist_invariants(plan_of(parts, {1, 1, 1}), kNotX).invariant_launches == Slots{{kW, kV}, {kW, kV}});
}
