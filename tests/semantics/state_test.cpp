// State: V1 to V7 of docs/semantics.md. Longer programs stand in programs_*_test.cpp.
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/buffer.h"
#include "semantics/support.h"
#include "sinter/error.h"

using namespace semantics;

namespace {

/// A tensor on the user's own memory, as a mapped file gives it.
Tensor foreign(const Vec& memory) {
  ir::GraphScope scope;
  ir::TensorGraph& g = ir::TensorGraph::get();
  ir::UOp n = g.make({ir::Op::Data, DType::F64, {memory.size()}, {}, ir::Fresh{g.fresh_id()}});
  g.own(n, runtime::Buffer::wrap(memory.data(), memory.size() * sizeof(double), {}).release());
  return tensor::wrap(n);
}

Tensor survivor;  // dies after main, with an assign that is owed

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
  Count c;
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
  Count d;
  (full64({2}, 1) * 4.0).realize();
  CHECK(d.in_place() == 0);
  CHECK(read(unread) == Vec{15, 15, 15});
}

TEST_CASE("V2 reading a stored value runs nothing", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 0), stored = full64({3}, 1);
  x += 1.0;
  Count c;
  read(stored);
  CHECK(c.plans() == 0);
}

TEST_CASE("V2 assigning a whole tensor drops the old version unread", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({4}, 1);
  Count c;
  x.assign(exp(x));
  x.assign(full64({4}, 2));
  CHECK(c.nodes() <= 2);
  x.realize();
  CHECK(c.plans() == 1);
  CHECK(read(x) == Vec{2, 2, 2, 2});
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

TEST_CASE("V3 of two versions with one home the last takes it", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({4}, 1);
  x.assign(exp(x));
  Tensor first = x.clone();
  x.assign(x * 2.0);
  Count c;
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
  (total + fixed.sum()).realize();
  CHECK(stored(y));
  CHECK_FALSE(stored(cheap));
  CHECK(stored(costly));
  CHECK_FALSE(stored(fixed));
  CHECK(stored(total));
  Count c;
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
  runtime::faults().fail_at_launch = 0;
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

TEST_CASE("a graph of too many pending nodes is realised by itself", "[semantics]") {
  ON_EACH_EXECUTOR();
  tensor::set_pending_limit(1000);
  Tensor x = full64({3}, 0), one = full64({3}, 1);
  Count c;
  for (int i = 0; i < 5000; ++i) x = x + one;
  CHECK(c.plans() >= 4);
  CHECK(c.nodes() < 1100);
  CHECK(read(x) == Vec{5000, 5000, 5000});
  tensor::set_pending_limit(tensor::kPendingLimit);
}

TEST_CASE("V7 a forked child computes, and handles may die after main", "[semantics]") {
  survivor = full64({3}, 1);
  survivor += 1.0;
  Tensor x = noise({64, 64});
  matmul(x, x).realize();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 1;
    try {
      const Vec got = read(matmul(x, x) + 1.0);
      status = got.size() == 64 * 64 ? 0 : 2;
    } catch (...) { status = 3; }
    _exit(status);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
