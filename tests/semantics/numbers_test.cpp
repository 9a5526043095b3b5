// Numbers and sizes: N1 to N5 of docs/semantics.md. Longer programs stand in programs_plan_test.cpp.
#include "ir/build.h"
#include "plan/plan_lookup.h"
#include "semantics/support.h"
#include "sinter/conv.h"
#include "sinter/error.h"
#include "sinter/random.h"
#include "tensor/core/cell.h"

using namespace semantics;

TEST_CASE("N1 numbers that change are arguments, and equal constants are still two", "[semantics]") {
  ON_EACH_EXECUTOR();
  auto misses = [](auto&& f) {
    uint64_t last = 0;
    for (int i = 0; i < 5; ++i) {
      CounterDelta c;
      f(i);
      last = i > 1 ? last + c.misses() : 0;
    }
    return last;
  };
  Tensor x = full64({4}, 1);
  CHECK(misses([&](int i) { CHECK(read(x * number(i + .5, float64))[0] == i + .5); }) == 0);
  CHECK(misses([&](int i) { CHECK(read(x * static_cast<double>(i) + 3.0)[0] == i + 3); }) == 0);  // meets 3 at i = 3
  CHECK(misses([&](int i) { CHECK(read(x.index({Slice{i % 3, i % 3 + 2}}) * 2.0)[0] == 2); }) == 0);
  Tensor a = number(1.0), b = number(1.0);
  CHECK_FALSE(tensor::node_of(a) == tensor::node_of(b));
  CHECK(misses([&](int i) { CHECK((number(1.0) + number(i == 2 ? 1.0 : 2.0)).item() == (i == 2 ? 2 : 3)); }) == 0);
}

TEST_CASE("N1 two equal constants become two arguments", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 1);
  for (const auto& [p, q] : {std::pair{2.0, 2.0}, {2.0, 3.0}, {4.0, 4.0}, {5.0, 6.0}, {7.0, 7.0}})
    CHECK(read(x * p + q)[1] == p + q);
}

TEST_CASE("N2 a random call takes its counter at the call: realising twice gives the same, a new call new numbers",
          "[semantics]") {
  manual_seed(5);
  std::vector<std::vector<float>> first;
  for (const debug::Executor e : {debug::Executor::Interpreter, debug::Executor::Compiled}) {
    debug::set_executor(e);
    manual_seed(5);
    Tensor a = rand({4}), b = rand({4}), again = a * 1.0;
    const std::vector<float> va = a.to_vector<float>(), vb = b.to_vector<float>();
    CHECK(va != vb);
    CHECK(again.to_vector<float>() == va);
    first.push_back(va);
  }
  CHECK(first[0] == first[1]);  // on every backend
}

TEST_CASE("N3 a size is bound at the call and matches only itself and 1", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Var b("batch", 1, 8), other("rows", 1, 8);
  Tensor x = from(Vec{1, 2, 3}, {b(3)}), y = from(Vec{1, 2, 3}, {3}), z = from(Vec{1, 2, 3}, {other(3)});
  CHECK(read(x + from(Vec{10}, {1})) == Vec{11, 12, 13});
  CHECK(read(x * x) == Vec{1, 4, 9});
  CHECK_THROWS_AS(x + y, UsageError);
  CHECK_THROWS_AS(x + z, UsageError);
  CHECK_THROWS_AS(static_cast<int64_t>(x.shape()[0]), UsageError);
  CHECK(x.shape()[0].value() == 3);
  CHECK_THROWS_AS(b(9), UsageError);
  const size_t entries = debug::counters().plan_entries;
  for (const int64_t n : {1, 2, 8}) {
    Vec values(static_cast<size_t>(n), 2.0);
    Tensor v = from(values, {b(n)});
    CHECK((v * v).sum().item() == 4.0 * static_cast<double>(n));
    CHECK(v.mean().item() == 2);
  }
  CHECK(debug::counters().plan_entries == entries + 2);
}

TEST_CASE("N4 the key sees what decides, by position: liveness, history, what may be written", "[semantics]") {
  const LeakCheck clean;
  debug::set_executor(debug::Executor::Interpreter);
  ir::GraphScope scope;
  auto key = [](const Tensor& t) {
    ir::TensorGraph::get().release_pool();
    const plan::PlanLookup found = plan::lookup_plan({{tensor::node_of(t)}, {}, {}}, debug::Executor::Interpreter);
    return std::get<std::unique_ptr<plan::PlanInstance>>(found)->plan_key.hash;
  };
  {
    Tensor a = noise({4}), b = noise({4}), c = noise({4});
    CHECK(key(exp(a) + exp(b)) == key(exp(b) + exp(c)));  // slots, not buffers
    CHECK(key(exp(a) + exp(b)) != key(exp(a) + exp(a)));  // aliasing
    CHECK(key(exp(a) * 2.0) == key(exp(a) * 3.0));        // numbers
    CHECK(key(exp(a)) != key(exp(noise({5}))));           // shapes
    Tensor inner = exp(a), outer = exp(inner), alone;
    {
      Tensor dies = exp(b);
      alone = exp(dies);
    }
    CHECK(key(alone) != key(outer));  // what outlives
    Tensor w = noise({4}).requires_grad(), v = noise({4}).requires_grad();
    Tensor kept = exp(w), spent = exp(v);
    Tensor l1 = kept.sum(), l2 = spent.sum();
    const auto before = key(l2);
    CHECK(key(l1) == before);
    l2.backward();
    CHECK(key(l2) != before);  // history
    Tensor x = noise({4}), y = noise({4}), held = y.clone();
    x += 1.0;
    y += 1.0;
    CHECK(key(x) != key(y));  // writable or not
    CHECK(key(exp(a) + b) == key(exp(b) + c));
  }
  debug::set_executor(debug::Executor::Compiled);
}

TEST_CASE("N4 of operands that may be swapped the order is structural", "[semantics]") {
  const LeakCheck clean;
  Tensor a = noise({4}), b = noise({4});
  CHECK(tensor::node_of(exp(a) + log(b)) == tensor::node_of(log(b) + exp(a)));
  // What was computed and what was not stands in the order of what it is, whoever came first.
  Tensor stored = exp(a);
  stored.realize();
  CHECK(tensor::node_of(stored + log(b)) == tensor::node_of(log(b) + stored));
  CHECK(tensor::node_of(2.0 * a) == tensor::node_of(a * 2.0));
}

TEST_CASE("N4 what a loop carries is one program, though it is a join of stored values", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Tensor a = noise({4}), b = noise({4});
  Tensor state = zeros({2, 4}).clone().realize();
  auto iterate = [&](int times) {
    const CounterDelta c;
    for (int i = 0; i < times; ++i) {
      const Tensor next = exp(state.flatten().slice(0, {0, 4})) * a + b * a;
      state = stack({next, next * a});
      next.sum().item();
    }
    return c.misses();
  };
  CHECK(iterate(4) <= 4);
  CHECK(iterate(8) == 0);
}

TEST_CASE("N5 equal nodes of a plan are merged, looking through DETACH", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = noise({4, 4}).requires_grad();
  w.realize();
  Tensor h = exp(w).sum(0), again = exp(w).sum(0), metric;
  {
    const no_grad off;
    metric = exp(w).sum(0);
  }
  CounterDelta c;
  realize(h, again, metric);
  CHECK(c.plans() == 1);
  CHECK(c.buffers() == 1);  // one value, three nodes
  CHECK(tensor::node_of(h)->storage() == tensor::node_of(metric)->storage());
  again.sum().backward();
  CHECK(close(read(w.grad()), read(exp(w))));
  Tensor largest = max_pool2d(w.reshape({1, 4, 4}), 2);  // where its gradient goes is no other computation
  {
    const no_grad off;
    metric = max_pool2d(w.reshape({1, 4, 4}), 2);
  }
  realize(largest, metric, gradient(largest.sum(), {w})[0]);
  CHECK(tensor::node_of(largest)->storage() == tensor::node_of(metric)->storage());
  Tensor u = number(2.0, float64), v = number(2.0, float64);
  Tensor p = full64({2}, 1) * u, q = full64({2}, 1) * v;
  realize(p, q);
  CHECK_FALSE(tensor::node_of(p)->storage() == tensor::node_of(q)->storage());  // fresh nodes stay apart
}
