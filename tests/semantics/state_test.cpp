// State: V1 to V6 of docs/semantics.md. Longer programs stand in programs_*_test.cpp.
#include "runtime/cpu/host_allocator.h"
#include "runtime/exec/buffer.h"
#include "semantics/support.h"
#include "short_memory.h"
#include "sinter/error.h"
#include "sinter/jit.h"
#include "tensor/eval/auto_realize.h"
#include "tensor/eval/step_commit.h"

using namespace semantics;

namespace {

/// A tensor on the user's own memory, as a mapped file gives it.
Tensor foreign(const Vec& memory) {
  ir::GraphScope scope;
  ir::TensorGraph& g = ir::TensorGraph::get();
  ir::UOp n = g.make({ir::Op::Data, DType::F64, {memory.size()}, {}});
  g.attach_storage(n, runtime::Buffer::wrap(memory.data(), memory.size() * sizeof(double), {}).release());
  return tensor::wrap(n);
}

}  // namespace

TEST_CASE("V1 a built value never changes because of a later assign", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(Vec{1, 2, 3}), twice = x * 2.0, part = x.index({Slice{0, 2}});
  x.assign(x + 10.0);
  x.at({0}) = -1.0;
  CHECK(read(twice) == Vec{2, 4, 6});
  CHECK(read(part) == Vec{1, 2});
  CHECK(read(x) == Vec{-1, 12, 13});
}

TEST_CASE("V1 the gradient of a version goes to the new value inside the region and to the old one outside",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2, 3}).requires_grad(), v = from(Vec{7}).requires_grad();
  Tensor q = w.clone();
  q.at({Slice{1, 2}}) = v * v;
  (q * from(Vec{10, 20, 30})).sum().backward();
  CHECK(read(w.grad()) == Vec{10, 0, 30});
  CHECK(read(v.grad()) == Vec{20 * 2 * 7});
}

TEST_CASE("V2 a plan runs what its thread assigned, each store once, and a dropped version never", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 0), unread = full64({3}, 5);
  x.realize();
  x += 1.0;
  unread.assign(unread * 3.0);
  CounterDelta c;
  (full64({2}, 1) * 2.0).realize();
  CHECK(c.plans() == 1);
  CHECK(c.in_place() == 2);
  CHECK(read(x) == Vec{1, 1, 1});
  CHECK(c.plans() == 1);
  (full64({2}, 1) * 3.0).realize();
  CHECK(c.in_place() == 2);  // struck off
  {
    Tensor gone = full64({3}, 0);
    gone += 1.0;
  }
  CounterDelta d;
  (full64({2}, 1) * 4.0).realize();
  CHECK(d.in_place() == 0);
  CHECK(read(unread) == Vec{15, 15, 15});
}

TEST_CASE("V2 reading a stored value runs nothing", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 0), stored = full64({3}, 1);
  x += 1.0;
  CounterDelta c;
  read(stored);
  CHECK(c.plans() == 0);
}

TEST_CASE("V2 assigning a whole tensor drops the old version unread", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({4}, 1);
  CounterDelta c;
  x.assign(exp(x));
  x.assign(full64({4}, 2));
  CHECK(c.nodes() <= 2);
  x.realize();
  CHECK(c.plans() == 1);
  CHECK(read(x) == Vec{2, 2, 2, 2});
}

TEST_CASE("V3 a box written in place is whole for who stores a reshape of it", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({16, 2}, 1), y = full64({32}, 0);
  const Tensor old = y.clone();  // so that y takes new memory,
  full64({32}, -1);              // which held this
  x.at({0}) = full64({2}, 9);
  y.assign(x.reshape({32}));
  Vec expected(32, 1);
  expected[0] = expected[1] = 9;
  CHECK(read(y) == expected);
  CHECK(read(x) == expected);
}

TEST_CASE("V3 a store writes in place only what dies with the plan", "[semantics]") {
  ON_EACH_EXECUTOR();
  auto address = [](const Tensor& t) {
    return static_cast<const runtime::Buffer*>(tensor::node_of(t)->storage())->data();
  };
  Tensor x = full64({4}, 1);
  const void* at = address(x);
  x += 1.0;
  x.realize();
  CHECK(address(x) == at);
  {
    Tensor other = x.clone();  // a second cell keeps the old version
    x += 1.0;
    x.realize();
    CHECK(address(x) != at);
    CHECK(read(other) == Vec{2, 2, 2, 2});
  }
  {
    Tensor lazy = x * 2.0;  // a cheap value stays lazy, and keeps its source
    const void* before = address(x);
    x += 1.0;
    x.realize();
    CHECK(address(x) != before);
    CHECK(read(lazy) == Vec{6, 6, 6, 6});
  }
  const Vec memory{1, 2, 3};
  Tensor mapped = foreign(memory);
  mapped += 1.0;
  CHECK(read(mapped) == Vec{2, 3, 4});
  CHECK(memory == Vec{1, 2, 3});
}

TEST_CASE("V3 memory that is read in two shapes is written in place in the shape that the plan meets first",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  const Vec numbers{1, 2, 3, 4, 5, 6};
  Tensor x = from(numbers, {2, 3});
  const auto assigned = [&](const std::function<Tensor(const Tensor&)>& value) {  // with no handle on the flat one
    x.assign(value(x.reshape({6}).realize()));
    const CounterDelta c;
    x.realize();
    CHECK(c.in_place() + c.moved() == 1);
    return c.in_place() == 1;
  };
  CHECK(assigned(
      [&](const Tensor& flat) { return where(x < flat.reshape({2, 3}) * 2.0, flat.reshape({2, 3}) * 3.0, x); }));
  CHECK(read(x) == Vec{3, 6, 9, 12, 15, 18});
  CHECK_FALSE(assigned([](const Tensor& flat) { return (flat - 1.0).reshape({2, 3}); }));
  CHECK(read(x) == Vec{2, 5, 8, 11, 14, 17});
  assigned([&](const Tensor& flat) { return x + flat.reshape({3, 2}).transpose(); });  // reads elsewhere than it writes
  CHECK(read(x) == Vec{4, 13, 22, 16, 25, 34});
}

TEST_CASE("V3 positions and numbers that were stored are memory like any other", "[semantics]") {
  ON_EACH_EXECUTOR();
  for (const bool positions_first : {true, false}) {
    debug::clear_plans();
    for (const bool positions : {positions_first, !positions_first}) {
      Tensor x = positions ? arange(4) : from(std::vector<int64_t>{0, 1, 2, 3}, {4});
      x.realize();
      const Tensor later = x + 1;
      x += later;
      x.realize();
      CHECK(later.to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3, 4});
      CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{1, 3, 5, 7});
    }
  }
  Tensor zero = zeros({});
  zero.realize();
  const Tensor later = zero + 1.0;
  zero += later;
  zero.realize();
  CHECK(later.item() == 1);
  CHECK(zero.item() == 1);
}

TEST_CASE("V3 of two versions with one home the last takes it", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({4}, 1);
  x.assign(exp(x));
  Tensor first = x.detach();  // a second cell of this version
  x.assign(x * 2.0);
  CounterDelta c;
  realize(first, x);
  CHECK(c.plans() == 1);
  CHECK(c.in_place() == 1);
  CHECK(c.moved() == 1);
  CHECK(close(read(first), Vec(4, std::exp(1.0))));
  CHECK(close(read(x), Vec(4, 2 * std::exp(1.0))));
}

TEST_CASE("V4 a plan stores what was asked for and what outlives it, but for constants and one cheap op",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  auto stored = [](const Tensor& t) { return tensor::node_of(t)->storage() != nullptr; };
  Tensor x = noise({4, 4});
  Tensor y = exp(x), cheap = y * 2.0, costly = log(y), total = (exp(cheap) + exp(costly)).sum();
  Tensor fixed = full({4, 4}, 1.5, float64);
  // What movement and casts make of numbers and positions is as good as these.
  Tensor framed = where(ones({2, 2}, boolean).pad({{1, 1}, {1, 1}}), y, arange(4).to(float64));
  (total + fixed.sum() + exp(framed).sum()).realize();
  CHECK_FALSE(stored(framed));
  CHECK(stored(y));
  CHECK_FALSE(stored(cheap));
  CHECK(stored(costly));
  CHECK_FALSE(stored(fixed));
  CHECK(stored(total));
  CounterDelta c;
  read(y);
  read(costly);
  CHECK(c.plans() == 0);
}

TEST_CASE("V5 assigning to a leaf is refused but under no_grad, where the version is a leaf again", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2}).requires_grad();
  CHECK_THROWS_WITH(w.assign(w * 2.0), Catch::Contains("no_grad"));
  CHECK_THROWS_WITH(w.at({0}) = 3.0, Catch::Contains("no_grad"));
  CHECK_THROWS_AS(w += 1.0, UsageError);
  {
    const no_grad off;
    w.assign(w * 2.0);
    w.at({0}) = 5.0;
  }
  CHECK(w.needs_grad());
  (w * w).sum().backward();
  CHECK(read(w.grad()) == Vec{10, 8});
  w.zero_grad();
  Tensor q = w.clone();  // a clone is no leaf
  q += 1.0;
  (q * 3.0).sum().backward();
  CHECK(read(w.grad()) == Vec{3, 3});
  CHECK_FALSE(q.has_grad());
}

TEST_CASE("V6 out of memory before the launch leaves everything as it was", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2, 3}).requires_grad(), record = full64({3}, 0);
  record += 1.0;
  Tensor huge = full({1 << 20, 1 << 20}, 1.0, float64);
  huge = exp(huge * w.sum()).contiguous();
  CHECK_THROWS_AS(huge.realize(), OutOfMemory);
  CHECK(tensor::node_of(record)->storage() == nullptr);
  CHECK(read(record) == Vec{1, 1, 1});
  CHECK(read(w) == Vec{1, 2, 3});
}

TEST_CASE("V6 a failed launch poisons what the plan stores, and assigning the whole tensor heals", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(Vec{1, 2, 3}), y = exp(x).sum(), z = log(y);
  x.assign(x * 2.0);
  runtime::fault_injection().fail_at_launch = 0;
  CHECK_THROWS_AS(realize(y, z), BackendError);
  for (const Tensor& t : {x, y, z}) CHECK_THROWS_AS(t.to_vector<double>(), BackendError);
  CHECK_THROWS_AS((x + 1.0).realize(), BackendError);
  CHECK_THROWS_AS(
      [&] {
        Tensor part = x;
        part.at({0}) = 1.0;
        part.realize();
      }(),
      BackendError);
  x.assign(from(Vec{4, 5, 6}));
  CHECK(read(x) == Vec{4, 5, 6});
}

TEST_CASE("V6 out of memory while a plan is interpreted leaves every tensor usable", "[semantics]") {
  debug::set_executor(debug::Executor::Interpreter);
  const LeakCheck clean;
  // The interpreter writes the 32 MB of all products out; all else that the plan stores is small.
  constexpr int64_t kRow = 2000;
  const auto sum_of_products = [&](const Tensor& v) { return abs(v.reshape({kRow, 1}) * v).sum(); };
  {
    Tensor x = full64({kRow}, 3);
    x.realize();
    x += 1.0;
    Tensor sum = sum_of_products(x);
    CounterDelta c;
    {
      const auto limit = memory_beyond(8 << 20);
      CHECK_THROWS_AS(sum.item(), OutOfMemory);
      CHECK(c.in_place() == 2);                  // x was written, and put back, with and without the record
      CHECK_THROWS_AS(sum.item(), OutOfMemory);  // the sum is still to be computed
      CHECK(read(x.index({Slice{0, 2}})) == Vec{4, 4});
    }
    CHECK(sum.item() == 16.0 * kRow * kRow);
    CHECK((read(x) == Vec(kRow, 4)));
  }
  {
    Tensor x = full64({kRow}, 0);
    x.realize();
    auto step = jit([&] { return x += 1.0, sum_of_products(x); });
    for (int i = 0; i < 2; ++i) step().realize();
    {
      const auto limit = memory_beyond(8 << 20);
      CHECK_THROWS_AS(step(), OutOfMemory);
      CHECK((read(x) == Vec(kRow, 2)));
    }
    CHECK(step().item() == 9.0 * kRow * kRow);
    CHECK((read(x) == Vec(kRow, 3)));
  }
  Tensor w = full64({kRow}, 2).requires_grad();
  Tensor loss = sum_of_products(w);
  loss.backward();
  {
    const auto limit = memory_beyond(8 << 20);
    const no_grad off;
    tensor::StepCommit commit;
    commit.update(w, w - w.grad() * 0.5 / static_cast<double>(kRow));
    commit.take_grad(w);
    CHECK_THROWS_AS(commit.realize(), OutOfMemory);
  }
  CHECK((read(w) == Vec(kRow, 0)));  // the step had begun: it is done when there is memory
  CHECK(loss.item() == 4.0 * kRow * kRow);
  const auto trained = [&](bool fails) {  // three steps, whose numbers differ
    Tensor v = full64({kRow}, 2).requires_grad();
    optim::Adam adam({v}, {.lr = 0.1});
    for (int step = 0; step < 3; ++step) {
      sum_of_products(v).backward();
      if (fails && step == 1) {
        const auto limit = memory_beyond(8 << 20);
        CHECK_THROWS_AS(adam.step(), OutOfMemory);
        adam.step();  // without a gradient
      } else {
        adam.step();
      }
    }
    return read(v);
  };
  CHECK(trained(true) == trained(false));
}

TEST_CASE("a graph of too many pending nodes is realised by itself", "[semantics]") {
  ON_EACH_EXECUTOR();
  tensor::set_pending_limit(1000);
  Tensor x = full64({3}, 0), one = full64({3}, 1);
  CounterDelta c;
  for (int i = 0; i < 5000; ++i) x = x + one;
  CHECK(c.plans() >= 4);
  CHECK(c.nodes() < 1100);
  CHECK(read(x) == Vec{5000, 5000, 5000});
  tensor::set_pending_limit(tensor::kPendingLimit);
}

TEST_CASE("a graph that holds more than half of the memory limit is realised by itself", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);  // the interpreter copies what it reads
  const LeakCheck clean;
  constexpr int64_t kBlock = 1 << 16;  // half a MiB of float64
  const int shape = GENERATE(0, 1, 2);
  INFO("loop " << shape);
  const auto limit = memory_beyond(16 << 20);
  Tensor sum = full64({kBlock}, 0);
  sum.realize();
  CounterDelta c;
  for (int i = 0; i < 100; ++i) {  // 50 MiB of blocks, which only the pending sum holds
    Tensor block = full64({kBlock}, 1);
    if (shape == 0) sum = sum + block;
    if (shape == 1) sum = exp(block * 0.0) * block + sum - 0.0;  // the sum is not what was made last
    if (shape == 2) sum += block;
    CHECK(runtime::cpu::live_memory() < runtime::cpu::memory_limit() * 3 / 4);
  }
  CHECK(c.plans() >= 5);
  CHECK(c.plans() <= 20);
  const Vec got = read(sum);
  CHECK(got[0] == 100);
  CHECK(got[kBlock - 1] == 100);
}

TEST_CASE("memory that handles hold realises nothing by itself", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);  // the interpreter copies what it reads
  const LeakCheck clean;
  const auto limit = memory_beyond(16 << 20);
  std::vector<Tensor> weights;
  for (int i = 0; i < 24; ++i) weights.push_back(full64({1 << 16}, 1));  // 12 MiB
  for (Tensor& w : weights) w.realize();
  CounterDelta c;
  Tensor sum = weights[0];
  for (const Tensor& w : weights) sum = sum + w;
  for (int i = 0; i < 100; ++i) sum = sum * 1.0 + 0.0;
  CHECK(c.plans() == 0);
  CHECK(sum.max().item() == 25);
}
