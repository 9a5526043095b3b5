// SINTER_CHECK=1: a pass that changes a bit is an InternalError, and right programs pass. Faults in the library itself:
// tests/fuzz/check_fuzz.cpp.
#include "catch.h"
#include "codegen/pass_check.h"
#include "sinter/debug.h"
#include "sinter/error.h"
#include "sinter/sinter.h"
#include "unit/codegen_support.h"
#include "unit/schedule_support.h"

using namespace codegen_test;
using Catch::Matchers::Contains;

TEST_CASE("a pass of codegen that changes a bit is found", "[codegen]") {
  KernelHarness b;
  const Var n("n", 1, 40);
  UOp x = b.buffer(random_array(DType::F32, {40, 3}, 1), {n(40), 3}), out = b.buffer(Array(DType::F32, {40}), {n(40)});
  UOp i = b.outer(n(40)), k = b.over(3, 1);
  auto with = [&](UOp term) { return sink(b.g(), {b.put(out, {i}, b.reduce(Combine::Add, {term}, {k}))}); };
  UOp v = b.at(x, {i, k});
  b.kernel.sink = with(v * v);
  UOp wrong = with(v * v + 1e-3), shifted = with(b.at(x, {i, b.index(2) - k}) * v);
  {
    const runtime_test::ScopedEnv unset("SINTER_CHECK", {});
    const codegen::PassCheck off(b.kernel);
    CHECK_NOTHROW(off.require_same_stores(wrong, "anything"));
  }
  const runtime_test::ScopedEnv on("SINTER_CHECK", "1");
  codegen::PassCheck values(b.kernel);
  CHECK_NOTHROW(values.require_same_stores(b.kernel.sink, "nothing"));
  CHECK_THROWS_WITH(values.require_same_stores(wrong, "a pass"), Contains("a pass") && Contains("buffer 1"));
  CHECK_THROWS_AS(values.require_same_stores(shifted, "a pass"), InternalError);
  values.rebase(wrong);
  CHECK_NOTHROW(values.require_same_stores(wrong, "a pass"));
  CHECK_THROWS_AS(values.require_same_stores(b.kernel.sink, "a pass"), InternalError);
}

TEST_CASE("a program of every kind passes the check", "[schedule]") {
  const runtime_test::ScopedEnv on("SINTER_CHECK", "1");
  debug::clear_plans();
  const Var rows("rows", 1, 64);
  Tensor x = from(std::vector<float>(21, 0.5f), {rows(7), 3}), w = ones({3, 2}).requires_grad();
  CHECK(softmax(matmul(x, w)).sum().item() == Approx(7));
  CHECK((x.mean(0) + gather(x, 0, from({{-1, 0, 6}})).sum()).sum().item() == Approx(1.5 + 3 * 1.5));
  optim::Adam opt({w}, {.lr = 0.1});
  for (int i = 0; i < 2; ++i) {
    Tensor loss = cross_entropy(matmul(ones({4, 3}), w), from({0, 1, 1, 0}));
    loss.backward();
    opt.step();
    CHECK(loss.item() > 0);
  }
  Tensor s = zeros({6});
  s.at({Slice{1, 6}}) = s.index({Slice{0, 5}}) + 1.0;
  CHECK(scatter_add(s, 0, from({1, 1, -1}), 2.0).sum().item() == 11);
  CHECK(rand({1000}).sum().item() > 400);
  CHECK(embedding(from({2, 0}), arange(12).to(float32).reshape({3, 4})).sum().item() == 44);
}
