// Sums of softmax weights are divided once: which sums, and what they are then.
#include <cmath>
#include <functional>

#include "catch.h"
#include "ir/walk.h"
#include "schedule/simplify/simplify.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

constexpr int64_t kRows = 3, kKeys = 5, kSize = 4;

/// e of [rows, keys], over its sum along `axis`.
UOp shares_of(UOp e, int64_t axis) { return e / expand(sum(e, {axis}), e->shape, {axis}); }
UOp softmax_of(UOp x, int64_t axis) {
  return shares_of(exp(x - expand(reduce(Combine::Max, x, {axis}), x->shape, {axis})), axis);
}

/// How many elements are divided.
int64_t divisions(const PlanGraph& plan) {
  int64_t n = 0;
  for (UOp u : topological(plan.outputs[0].value))
    if (u->op == Op::Div) n += u->shape.numel();
  return n;
}

/// The product of `weights`, made of x [rows, keys], and values [keys, size], before the pass and after it.
void check(const std::function<UOp(UOp x)>& weights, int64_t divided) {
  Program p;
  UOp keys = p.slot({kRows, kKeys}), values = p.slot({kKeys, kSize});
  p.store(matmul(weights(keys), values));
  runtime::Array x(DType::F32, {kRows, kKeys}), v(DType::F32, {kKeys, kSize});
  for (int64_t i = 0; i < x.numel(); ++i) x.set(i, Scalar::of(DType::F32, std::sin(static_cast<double>(i))));
  for (int64_t i = 0; i < v.numel(); ++i) v.set(i, Scalar::of(DType::F32, std::cos(static_cast<double>(i))));
  const Inputs in{{x, v}, {}, {}};
  const Result before = oracle(p.plan, in);
  defer_division(p.plan);
  CHECK(divisions(p.plan) == divided);
  const Result after = oracle(p.plan, in);
  for (int64_t i = 0; i < before.outputs[0].numel(); ++i)
    CHECK(after.outputs[0].at(i).as_double() == Approx(before.outputs[0].at(i).as_double()).epsilon(1e-6));
}

}  // namespace

TEST_CASE("weights that share a divisor are divided once per sum", "[schedule]") {
  check([](UOp x) { return softmax_of(x, 1); }, kRows * kSize);
}

TEST_CASE("weights whose divisor changes along the sum keep it", "[schedule]") {
  check([](UOp x) { return softmax_of(x, 0); }, kRows * kKeys);
}

TEST_CASE("quotients that are no softmax stay: a divisor may be 0", "[schedule]") {
  check([](UOp x) { return shares_of(x, 1); }, kRows * kKeys);
}

TEST_CASE("exponentials that are not below their maximum are divided first: their products might overflow",
          "[schedule]") {
  check([](UOp x) { return shares_of(exp(x), 1); }, kRows * kKeys);
}

TEST_CASE("weights in a frame of zeros keep their divisor", "[schedule]") {
  check([](UOp x) { return pad(softmax_of(x, 1), {{1, kRows + 1}, {0, kKeys}}, {kRows + 2, kKeys}); }, kRows * kKeys);
}
