// Handles and nodes: H1 to H6 of docs/semantics.md.
#include <atomic>
#include <type_traits>

#include "explain.h"
#include "runtime/program/host_target.h"
#include "semantics/support.h"
#include "sinter/jit.h"
#include "tensor/core/cell.h"

using namespace semantics;

namespace {
ir::UOp node(const Tensor& t) { return tensor::node_of(t); }

/// How many of the calls that write a cell compile on a T.
template <class T>
constexpr int writers = requires { std::declval<T>().assign(1.0); } + requires { std::declval<T>() += 1.0; } +
                        requires { std::declval<T>() -= 1.0; } + requires { std::declval<T>() *= 1.0; } +
                        requires { std::declval<T>() /= 1.0; } + requires { std::declval<T>().at({0}); };
}  // namespace

TEST_CASE("H1 copies of a handle share a cell, operators are pure, only assign writes", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor a = from(Vec{1, 2}), b = a, c = a.clone(), sum = a + 1.0;
  a.assign(from(Vec{5, 6}));
  CHECK(read(b) == Vec{5, 6});
  CHECK(read(c) == Vec{1, 2});
  CHECK(read(sum) == Vec{2, 3});
  b *= 2.0;
  CHECK(read(a) == Vec{10, 12});
  a = from(Vec{0, 0});  // rebinds the handle, writes nothing
  CHECK(read(b) == Vec{10, 12});
  static_assert(sizeof(Tensor) == sizeof(std::shared_ptr<int>));
}

TEST_CASE("H2 scheduling stops at a node with storage, gradient() walks past it", "[semantics]") {
  const LeakCheck clean;
  debug::set_executor(debug::Executor::Interpreter);
  Tensor x = from(Vec{1, 2, 3}).requires_grad(), y = exp(x), z = y;
  y.realize();
  CounterDelta c;
  (z * z).realize();
  CHECK(c.evaluated() == 2);  // the slot and the product: exp is not computed again
  CHECK(close(read(gradient(z.sum(), {x})[0]), read(exp(x.detach()))));
  debug::set_executor(debug::Executor::Compiled);
}

TEST_CASE("H3 a node that gets storage lets its sources go, unless it has history", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(Vec{1, 2, 3});
  {
    Tensor y = exp(x), again = exp(x);
    CHECK(node(y) == node(again));
    y.realize();
    CHECK(node(y)->src.empty());
    CHECK_FALSE(node(exp(x)) == node(y));  // it has left the intern table
  }
  Tensor w = x.clone().requires_grad(), loss = exp(w).sum();
  loss.item();
  CHECK_FALSE(node(loss)->src.empty());
  CHECK_NOTHROW(loss.backward());  // computes forward again
  CHECK(node(loss)->src.empty());  // consumed
  CHECK(close(read(w.grad()), read(exp(x))));
}

TEST_CASE("H3 a reshape lies where its source lies", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Vec numbers{1, 2, 3, 4, 5, 6};
  const CounterDelta count;
  Tensor x = from(numbers, {2, 3}), flat = x.reshape({6}).realize(), same = x.unsqueeze(0).squeeze(0).realize();
  CHECK(node(flat)->storage() == node(x)->storage());
  CHECK(node(same)->storage() == node(x)->storage());
  CHECK(node(same)->src.empty());
  CHECK(read(x.reshape({3, 2})) == numbers);
  CHECK(count.plans() == 0);

  Tensor y = exp(x), z = y.reshape({3, 2}).realize();  // y, which a handle holds, is stored once
  CHECK(count.plans() == 1);
  CHECK(node(z)->storage() == node(y)->storage());
  zeros({2, 3}).reshape({6}).realize();
  CHECK_FALSE(node(zeros({2, 3}))->storage());  // whoever uses the number wants no memory for it

  const auto kernels = [](const Tensor& t) {
    return testing::explain(std::vector{t}, runtime::host_target()).scheduled.kernels.size();
  };
  const Tensor lazy = exp(z) + 1.0;
  CHECK(kernels(lazy.reshape({6})) == 1);
  CHECK_THROWS_WITH(kernels(x.reshape({3, 2})), Catch::Matchers::Contains("computed already"));

  flat += x.reshape({6});  // V1, V3: x has the memory too
  CHECK(read(flat) == Vec{2, 4, 6, 8, 10, 12});
  CHECK(read(x) == numbers);
  Tensor a = from(numbers, {2, 3}), b = a.reshape({6}).realize();
  a += b.reshape({2, 3}).transpose().reshape({2, 3});
  b = a.reshape({6});
  CHECK(read(b) == Vec{2, 6, 5, 9, 8, 12});

  Tensor w = from(numbers).requires_grad(), row = (w * w).reshape({1, 6}).realize();
  row.sum().backward();
  CHECK(read(w.grad()) == Vec{2, 4, 6, 8, 10, 12});
}

TEST_CASE("H4 what may become different is never interned", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor a = zeros({10}, float64), b = zeros({10}, float64);
  CHECK(node(a) == node(b));
  a.requires_grad();
  b.requires_grad();
  CHECK_FALSE(node(a) == node(b));
  CHECK_FALSE(node(exp(a)) == node(exp(a)));
  CHECK(node(exp(a.detach())) == node(exp(a.detach())));
  CHECK_FALSE(node(number(1.0)) == node(number(1.0)));
  Tensor p = full64({3}, 1), q = p.clone();
  p += 1.0;
  q += 1.0;
  CHECK_FALSE(node(p) == node(q));
  CHECK(node(arange(Dim(5))) == node(arange(Dim(5))));
}

TEST_CASE("H4 what a jitted function builds is merged with nothing that is built elsewhere", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Tensor w = full64({3}, 2).realize(), x = full64({3}, 1).realize();
  const Tensor outside = exp(w);
  auto f = jit([&](const Tensor& y) {
    const Tensor e = exp(w);
    CHECK_FALSE(node(e) == node(outside));
    CHECK(node(e) == node(exp(w)));  // in one call equal expressions are one
    return y + e;
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor held = exp(w);
    CHECK(node(held) == node(outside));
    CHECK(close(read(f(x)), Vec(3, 1 + std::exp(2.0))));
  }
  CHECK_FALSE(node(outside)->storage());  // nor stored by it
}

TEST_CASE("H5 slices are values of a version, at() is a place, clone() a second cell", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(Vec{0, 1, 2, 3, 4, 5}, {2, 3});
  Tensor row = x[1], part = x.index({0, Slice{1, 3}});
  x.at({1}) = full64({3}, 9);
  x.at({0, Slice{1, 3}}) += 10.0;
  CHECK(read(row) == Vec{3, 4, 5});
  CHECK(read(part) == Vec{1, 2});
  CHECK(read(x) == Vec{0, 11, 12, 9, 9, 9});
  Tensor seen = x.at({0, 1});
  x.at({0, 1}) = 7.0;
  CHECK(seen.item() == 11);
  x.at({0}) = x.at({1});
  CHECK(read(x) == Vec{9, 9, 9, 9, 9, 9});
  static_assert(!std::is_assignable_v<Tensor&&, const Tensor&>);  // x[0] = v does not compile
  static_assert(writers<Tensor&> == 6 && writers<Tensor> == 0);   // nor does x[0] += 1, whose cell nobody would see

  Tensor p = full64({2}, 1), q = full64({2}, 2), t = p.clone();
  p.assign(q);
  q.assign(t);
  CHECK(read(p) == Vec{2, 2});
  CHECK(read(q) == Vec{1, 1});
}

TEST_CASE("H5 a clone is a copy once it is realised, and the value itself before", "[semantics]") {
  ON_EACH_EXECUTOR();
  const auto own = [](const Tensor& a, const Tensor& b) {
    return node(a)->storage() && node(b)->storage() && node(a)->storage() != node(b)->storage();
  };
  const Tensor x = from(Vec{1, 2, 3, 4}), parameter = full64({4}, 2).requires_grad(), lazy = exp(x);
  const std::vector<std::pair<const char*, Tensor>> kinds{
      {"stored", x},
      {"a reshape", x.reshape({2, 2})},
      {"detached", parameter.detach()},
      {"a parameter", parameter},
      {"a view", x.flip()},
      {"a slice", x.slice(0, {1, 3})},
      {"lazy", lazy},
      {"a constant", full({4}, 0.5)},
      {"a constant of memory", full({4}, 0.25).realize()},
      {"a clone", x.clone()},
  };
  for (const auto& [kind, t] : kinds) {
    CAPTURE(kind);
    const Vec value = read(t.to(float64));
    Tensor c = t.clone(), d = t.clone();
    CHECK_FALSE(node(c) == node(d));
    CHECK_FALSE(node(c)->storage());
    t.realize();
    realize(c, d);  // in one plan
    CHECK(own(c, t));
    CHECK(own(c, d));
    const Tensor e = c.clone().contiguous().realize(), f = c.contiguous().clone().realize();
    CHECK(own(e, c));
    CHECK(own(f, c));
    for (const Tensor& copy : {c, d, e, f}) CHECK(read(copy.to(float64)) == value);
    Tensor written = t.detach().clone();
    written += 1.0;
    written.realize();
    CHECK(read(t.to(float64)) == value);
  }
}

TEST_CASE("H5 what reads a clone computes and stores nothing for it", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Tensor x = noise({8, 8});
  const auto plan = [](const std::function<Tensor(const Tensor&)>& of, const Tensor& t) {
    debug::clear_plans();
    const debug::Counters before = debug::counters();
    of(t).item();
    return std::pair(debug::counters().launches - before.launches,
                     debug::counters().live_buffers - before.live_buffers);
  };
  const auto sum = [](const Tensor& t) { return (exp(t) * t).sum(); };
  const Tensor held = x.clone(), turned = x.transpose().clone();
  CHECK(plan(sum, held) == plan(sum, x));
  CHECK_FALSE(node(held)->storage());
  CHECK(plan(sum, turned) == plan(sum, x.transpose()));
  CHECK_FALSE(node(turned)->storage());
  CHECK(plan([&](const Tensor& t) { return sum(t.clone()); }, x) == plan(sum, x));
  Tensor alone = x.clone().transpose().clone();
  const Vec value = read(alone);
  Tensor last = noise({8, 8}), kept = last.clone();
  const Vec old = read(last);
  last += 1.0;  // what it was a clone of is no more: it is stored when it is read
  CHECK(read(last)[0] == old[0] + 1);
  CHECK(read(kept) == old);
  CHECK(read(alone) == value);
}

TEST_CASE("H6 threads share one graph: a claimed node is waited for, and computed once", "[semantics]") {
  ON_EACH_EXECUTOR();
  for (int round = 0; round < 20; ++round) {
    Tensor x = noise({32, 32}), shared = matmul(x, x).sum(0);
    const Vec expected = [&] {
      Vec v = read(x), out(32);
      for (size_t r = 0; r < 32; ++r)
        for (size_t k = 0; k < 32; ++k)
          for (size_t c = 0; c < 32; ++c) out[c] += v[r * 32 + k] * v[k * 32 + c];
      return out;
    }();
    uint64_t alone = 0;  // nodes that one thread evaluates for the same reads
    {
      const Tensor y = noise({32, 32}), lonely = matmul(y, y).sum(0);
      CounterDelta count;
      read(lonely);
      for (int t = 0; t < 4; ++t) read(lonely * static_cast<double>(t + 1));
      alone = count.evaluated();
    }
    CounterDelta count;
    std::atomic<int> ready = 0, wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        if (t % 2) wrong += !close(read(shared), expected);
        Tensor own = shared * static_cast<double>(t + 1);
        const Vec got = read(own);
        for (size_t i = 0; i < got.size(); ++i)
          wrong += std::abs(got[i] - expected[i] * (t + 1)) > 1e-9 * (1 + std::abs(got[i]));
      });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK(count.plans() <= 5);  // a second computation of `shared` would be one more
    CHECK(count.evaluated() == alone);
  }
}

TEST_CASE("H6 what a tensor says of itself is asked while others assign it", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 0);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::thread asking([&] {
    while (!done)
      wrong += x.shape() != Shape{3} || x.rank() != 1 || x.numel() != 3 || x.dtype() != float64 ||
               x.device() != default_device();
  });
  for (int i = 0; i < 200; ++i) {
    x.assign(x + 1.0);
    if (i % 10 == 0) x.realize();
  }
  done = true;
  asking.join();
  CHECK(wrong == 0);
  CHECK(read(x) == Vec{200, 200, 200});
}

TEST_CASE("H6 compilation runs outside the mutex", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor warm = exp(full64({3}, 0));
  warm.realize();
  bool ran = false;
  runtime::fault_injection().while_compiling = [&] {
    Worker other;
    other.run([&] {  // would wait for ever if the mutex were held
      Tensor t = exp(full64({3}, 0));
      ran = read(t) == Vec{1, 1, 1};
    });
  };
  Tensor x = log(full64({5}, 1));
  CHECK(read(x) == Vec{0, 0, 0, 0, 0});
  CHECK(ran);
}

TEST_CASE("H6 a plan in flight holds what it reads and stores", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 1), y = exp(x).sum();
  bool moved = false;
  Worker other;
  runtime::fault_injection().before_launch = [&] {
    other.run([&] {
      CounterDelta c;
      x += 1.0;
      x.realize();
      moved = c.moved() == 1 && c.in_place() == 0;
    });
  };
  CHECK(y.item() == Approx(3 * std::exp(1.0)));
  CHECK(moved);
  CHECK(read(x) == Vec{2, 2, 2});

  // Who needs a claimed node waits for the plan that stores it, and does not compute it again.
  Tensor z = exp(x * 3.0).sum();
  std::thread waiting;
  Vec seen;
  CounterDelta c;
  runtime::fault_injection().before_launch = [&] {
    waiting = std::thread([&] { seen = read(z); });
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  };
  z.realize();
  waiting.join();
  CHECK(seen == read(z));
  CHECK(c.plans() == 1);

  // So does who reads a reshape that the plan stores itself, and not what it is a reshape of.
  Tensor row = (exp(x) + sin(x)).reshape({1, 3}), last = (row * 2.0).sum();
  CounterDelta d;
  runtime::fault_injection().before_launch = [&] {
    waiting = std::thread([&] { seen = read(row.reshape({3, 1})), seen = read(row); });
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  };
  last.realize();
  waiting.join();
  CHECK(close(seen, Vec(3, std::exp(2.0) + std::sin(2.0))));
  CHECK(d.plans() == 1);
}

TEST_CASE("H6 threads train models of their own at the same time", "[semantics]") {
  ON_EACH_EXECUTOR();
  std::vector<std::thread> threads;
  std::atomic<int> bad = 0;
  std::vector<std::pair<std::vector<Vec>, Batch>> given;
  for (int t = 0; t < 3; ++t) {
    Mlp net;
    std::vector<Vec> start;
    for (const Tensor& p : net.p) start.push_back(read(p));
    given.push_back({start, batch()});
  }
  auto train = [](const std::vector<Vec>& start, const Batch& b) {
    Mlp net;
    for (size_t i = 0; i < start.size(); ++i) net.p[i] = from(start[i], net.p[i].shape()).requires_grad();
    optim::Adam opt(net.p, {.lr = .1});
    Tensor x = b.x.clone(), y = b.y.clone();
    double last = 0;
    for (int i = 0; i < 20; ++i) {
      Tensor loss = xent(net(x), y);
      loss.backward();
      opt.step();
      last = loss.item();
    }
    return last;
  };
  std::vector<double> alone(3), together(3);
  for (size_t t = 0; t < 3; ++t) alone[t] = train(given[t].first, given[t].second);
  for (size_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      try {
        together[t] = train(given[t].first, given[t].second);
      } catch (const std::exception&) { ++bad; }
    });
  for (std::thread& t : threads) t.join();
  CHECK(bad == 0);
  CHECK(alone == together);
}
