// What ./dev replay keeps of a plan gives the same plan again.
#include "replay/plan_text.h"

#include "catch.h"
#include "sinter/error.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

TEST_CASE("a plan's text is read back as the same plan", "[schedule][replay]") {
  const Var n("n", 1, 512);
  Program p;
  const ir::UOp x = p.slot({n(64), 32}), w = p.slot({32, 16}), old = p.slot({64, 16}, DType::F32);
  p.store(ir::exp(matmul(x, w)) * ir::broadcast_to(p.arg(DType::F32), {n(64), 16}));
  p.store(p.after(old, ir::like(old, 1.0), {{0, 64}, {0, 16}}), 2);
  p.slot({7}, DType::I32);  // which nothing reads
  for (const Policy policy : {Policy::Fused, Policy::Unfused}) {
    const std::string text = replay::to_text(p.plan, policy);
    const replay::RecordedPlan again = replay::parse_plan(text);
    CHECK(again.policy == policy);
    CHECK(replay::to_text(again.graph, again.policy) == text);
    CHECK(again.graph.slots.size() == 4);
    CHECK(again.graph.slots[3].dtype == DType::I32);
    CHECK(again.graph.vars.size() == 1);
    CHECK(again.graph.args == p.plan.args);
    CHECK(again.graph.outputs[1].home == 2);
    CHECK(runtime::to_string(schedule::schedule(again.graph, kTarget, policy).plan) ==
          runtime::to_string(schedule::schedule(p.plan, kTarget, policy).plan));
  }
}

TEST_CASE("a text that is no plan is refused", "[schedule][replay]") {
  CHECK_THROWS_AS(replay::parse_plan("nothing"), UsageError);
  CHECK_THROWS_AS(replay::parse_plan("plan fused slots 1 args 0 vars 0 homes [-1]\nsinter-ir 1\n"), UsageError);
}
