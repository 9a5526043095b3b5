// Programs about state, threads and failures: (j) to (t) of the state model.
#include "semantics/support.h"
#include "sinter/error.h"
#include "tensor/core/cell.h"

using namespace semantics;

TEST_CASE("program (j): a recurrent state carried by detach; G6 it keeps no history", "[semantics]") {
  ON_EACH_EXECUTOR();
  const bool train = GENERATE(true, false);
  Tensor W = weight({4, 4}), U = weight({4, 4});
  optim::SGD opt({W, U}, {.lr = .01});
  Tensor hidden = full64({2, 4}, 0);
  int64_t nodes = 0;
  for (int t = 0; t < 300; ++t) {
    CounterDelta c;
    {
      Tensor x = noise({2, 4});
      hidden = relu(matmul(hidden, U) + matmul(x, W));
      if (train) {
        Tensor loss = (hidden * hidden).sum();
        loss.backward();
        opt.step();
        loss.item();
        hidden = hidden.detach();
      } else {
        hidden = hidden.detach();
        hidden.sum().item();
      }
    }
    if (t == 20) nodes = static_cast<int64_t>(debug::counters().live_nodes);
    if (t > 10) CHECK(c.misses() == 0);
  }
  CHECK(static_cast<int64_t>(debug::counters().live_nodes) == nodes);
}

TEST_CASE("program (j'): N4 commutative order does not look behind storage", "[semantics]") {
  ON_EACH_EXECUTOR();
  const no_grad off;
  Tensor hidden = full64({2, 4}, 0);
  CounterDelta c;
  for (int t = 0; t < 40; ++t) {
    Tensor p = noise({2, 4}), q = noise({2, 4}), r = noise({2, 4});
    hidden = (hidden + exp(p) * .01) * (q + exp(hidden * .01)) * .1 + (exp(r) + hidden) * .1;
    hidden.realize();
  }
  CHECK(c.misses() <= 3);
}

TEST_CASE("program (k): overlap, transpose and swap; V3 stores that wait for each other are cut", "[semantics]") {
  ON_EACH_EXECUTOR();
  {
    Tensor x = from(Vec{0, 1, 2, 3, 4, 5});
    x.at({Slice{1, 6}}) = x.index({Slice{0, 5}});
    CHECK(read(x) == Vec{0, 0, 1, 2, 3, 4});
  }
  {
    Tensor x = from(Vec{0, 1, 2, 3, 4, 5, 6, 7, 8}, {3, 3});
    x.realize();
    x.assign(x.transpose());
    CHECK(read(x) == Vec{0, 3, 6, 1, 4, 7, 2, 5, 8});
  }
  Tensor p = full64({3}, 1), q = full64({3}, 0);
  CounterDelta c;
  {
    Tensor t = p.clone();
    p.assign(q);
    q.assign(t);
  }
  realize(p, q);
  CHECK(c.plans() == 1);
  CHECK(c.moved() == 1);
  CHECK(c.in_place() == 1);
  CHECK(read(p) == Vec{0, 0, 0});
  CHECK(read(q) == Vec{1, 1, 1});
  p.assign(q);
  q.assign(p);
  CHECK(read(q) == Vec{1, 1, 1});
}

TEST_CASE("program (l): V2 records belong to the thread that assigned", "[semantics]") {
  ON_EACH_EXECUTOR();
  Worker one, two;
  Tensor x = full64({3}, 0);
  x.realize();
  one.run([&] { x.assign(x + 1.0); });
  two.run([&] {
    Tensor other = full64({2}, 1) + 1.0;
    CounterDelta c;
    other.realize();
    CHECK(c.in_place() == 0);
  });
  CHECK(read(x) == Vec{1, 1, 1});
  one.run([&] {
    CounterDelta c;
    (full64({2}, 1) + 5.0).realize();
    CHECK(c.plans() == 1);
    CHECK(c.in_place() == 0);  // x was read: struck off
  });
  one.run([&] { x.assign(x + 1.0); });
  two.run([&] { x.assign(x * 10.0); });  // reads the other thread's version, not yet run
  one.run([&] {
    CounterDelta c;
    (full64({2}, 1) + 7.0).realize();
    CHECK(c.in_place() == 1);
  });
  two.run([&] {
    CounterDelta c;
    CHECK(read(x) == Vec{20, 20, 20});
    CHECK(c.plans() == 0);
  });
}

TEST_CASE("program (m): G1 gradient() is pure, and reaches second order through a penalty", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor W = weight({3, 1}), x = noise({4, 3});
  x.requires_grad();
  auto penalty_of = [&](const Tensor& w) {
    Tensor y = exp(matmul(x, w)).sum();
    Tensor gx = gradient(y, {x})[0];
    Tensor p = (gx * gx).sum() - 1.0;
    return p * p;
  };
  penalty_of(W).backward();
  const Vec got = read(W.grad()), base = read(W);
  for (size_t i = 0; i < 3; ++i) {
    auto at = [&](double e) {
      Vec v = base;
      v[i] += e;
      return penalty_of(from(v, {3, 1})).item();
    };
    CHECK(got[i] == Approx((at(1e-5) - at(-1e-5)) / 2e-5).epsilon(1e-5));
  }
  Tensor y = matmul(x, W).sum();
  gradient(y, {W});
  gradient(y, {W});
  CHECK_NOTHROW(y.backward());

  Tensor z = full64({3}, 1), u = (z * z).sum();
  u.item();
  CHECK_THROWS_WITH(gradient(u, {z}), Catch::Contains("does not require grad"));
  CHECK_THROWS_WITH(gradient(matmul(x.detach(), W).sum(), {x}), Catch::Contains("not used"));
}

TEST_CASE("program (n): tied weights", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor E = weight({5, 4}), x = noise({2, 5});
  optim::SGD opt({E}, {.lr = .1});
  for (int i = 0; i < 5; ++i) {
    CounterDelta c;
    Tensor loss = matmul(relu(matmul(x, E)), E.transpose()).sum();
    loss.backward();
    opt.step();
    loss.item();
    if (i < 3) continue;
    CHECK(c.misses() == 0);
    CHECK(c.plans() == 1);
    CHECK(c.moved() == 0);
  }
}

TEST_CASE("program (o): G3 a kept handle to .grad sees additions, and keeps its value after step", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor W = weight({3, 3}), x = from(Vec{1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
  optim::SGD opt({W}, {.lr = .5});
  for (int i = 0; i < 6; ++i) {
    CounterDelta c;
    (matmul(x, W) * (i + 1.0)).sum().backward();
    Tensor g = W.grad();
    opt.step();
    if (i > 2) CHECK(c.misses() == 0);
    CHECK(read(g)[0] == i + 1);
    CHECK_THROWS_WITH(W.grad(), Catch::Contains("step() took it"));
  }
  matmul(x, W).sum().backward();
  Tensor g = W.grad();
  matmul(x, W).sum().backward();
  CHECK(read(g)[0] == 2);
  W.zero_grad();
  CHECK(read(g)[0] == 2);
  CHECK_THROWS_WITH(W.grad(), Catch::Contains("zero_grad() took it"));
}

TEST_CASE("program (p): V6 failures before the launch change nothing; after it, all that the plan stores is poisoned",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [x, y] = batch();
  Tensor loss = xent(net(x), y);
  loss.backward();
  opt.step();
  loss.item();
  std::vector<Vec> before;
  for (const Tensor& p : net.p) before.push_back(read(p));

  loss = xent(net(x), y);
  loss.backward();
  debug::clear_plans();
  {
    const testing::PlantedFaults faults;
    faults->refuse = [](ir::Op op) { return op == ir::Op::Log; };
    CHECK_THROWS_AS(opt.step(), CompileError);
  }
  for (size_t i = 0; i < before.size(); ++i) CHECK(read(net.p[i]) == before[i]);
  CHECK(net.p[0].has_grad());
  opt.step();
  CHECK(read(net.p[0]) != before[0]);

  loss = xent(net(x), y);
  loss.backward();
  runtime::fault_injection().fail_at_launch = 2;
  CHECK_THROWS_AS(opt.step(), BackendError);
  for (const Tensor& p : net.p) CHECK_THROWS_AS(p.to_vector<double>(), BackendError);
  CHECK_THROWS_AS(loss.item(), BackendError);

  Tensor record = full64({3}, 0);
  record.realize();
  record.assign(record + 1.0);
  CHECK_THROWS_AS((net.p[0] * 2.0).to_vector<double>(), BackendError);
  CHECK(read(record) == Vec{1, 1, 1});
  {
    const no_grad off;
    for (size_t i = 0; i < before.size(); ++i) net.p[i].assign(from(before[i], net.p[i].shape()));
  }
  for (size_t i = 0; i < before.size(); ++i) CHECK(read(net.p[i]) == before[i]);
}

TEST_CASE("program (p'): V6 what was asked for is tried without stores that nobody asked for", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor bad = full64({3}, .5);
  bad.assign(erf(bad));
  runtime::fault_injection().refuse = [](ir::Op op) { return op == ir::Op::Erf; };
  Tensor u = full64({3}, 1) + 1.0;
  CHECK(read(u) == Vec{2, 2, 2});
  CHECK_THROWS_AS(bad.to_vector<double>(), CompileError);
  {
    CounterDelta c;
    (full64({3}, 1) * 3.0).realize();
    CHECK(c.plans() == 1);
  }
  runtime::fault_injection().refuse = {};
  CHECK(read(bad)[0] == Approx(std::erf(.5)));
}

TEST_CASE("program (q): G6 losses pushed to a list keep no history when detached or read", "[semantics]") {
  ON_EACH_EXECUTOR();
  struct Way {
    const char* name;
    bool detach, train, item;
  };
  for (const Way& way :
       {Way{"train, detach", true, true, true}, Way{"train, loss", false, true, true},
        Way{"train, detach, no item", true, true, false}, Way{"evaluate, detach, item", true, false, true}}) {
    CAPTURE(way.name);
    Mlp net;
    optim::SGD opt(net.p, {.lr = .1});
    auto [x, y] = batch();
    std::vector<Tensor> losses;
    debug::Counters half;
    constexpr int kSteps = 40;
    for (int i = 0; i < kSteps; ++i) {
      Tensor loss = xent(net(x), y);
      if (way.train) {
        loss.backward();
        opt.step();
      }
      losses.push_back(way.detach ? loss.detach() : loss);
      if (way.item) loss.item();
      loss = Tensor();
      if (i == kSteps / 2) half = debug::counters();
    }
    const debug::Counters end = debug::counters();
    const size_t steps = kSteps - 1 - kSteps / 2;
    CHECK(end.live_nodes - half.live_nodes <= steps);
    CHECK(end.live_buffers - half.live_buffers <= steps);
  }
}

TEST_CASE("program (q'): G6 sums of losses, and a lazy metric under no_grad", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [x, y] = batch();
  {
    Tensor total = full64({}, 0);
    size_t at = 0;
    CounterDelta c;
    for (int i = 0; i < 60; ++i) {
      Tensor loss = xent(net(x), y);
      loss.backward();
      total += loss.detach();
      opt.step();
      loss = Tensor();
      if (i == 20) {
        at = debug::counters().live_nodes;
        c = CounterDelta();
      }
    }
    CHECK(debug::counters().live_nodes == at);
    CHECK(c.misses() == 0);
  }
  std::vector<Tensor> metrics;
  size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    Tensor z = net(x), loss = xent(z, y);
    {
      const no_grad off;
      metrics.push_back(accuracy(exp(z), y));
    }
    loss.item();
    if (i == 9) at = debug::counters().live_nodes;
  }
  CHECK(debug::counters().live_nodes - at <=
        10 * 40);  // a lazy chain of its own each, and nothing of the forward behind it
}

TEST_CASE("program (r): hand-written SGD under no_grad, loss read every 20", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  std::vector<size_t> live;
  for (int i = 0; i < 80; ++i) {
    CounterDelta c;
    {
      auto [x, y] = batch();
      Tensor loss = xent(net(x), y);
      for (Tensor& p : net.p) p.zero_grad();
      loss.backward();
      {
        const no_grad off;
        for (Tensor& p : net.p) p.assign(p - p.grad() * .1);
      }
      if (i % 20 == 19) CHECK(std::isfinite(loss.item()));
    }
    live.push_back(debug::counters().live_nodes);
    if (i > 45) CHECK(c.misses() == 0);
  }
  CHECK(live[30] == live[70]);
}

TEST_CASE("program (s): logits kept over step; a metric built before and read after", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  for (int i = 0; i < 5; ++i) {
    auto [x, y] = batch();
    CounterDelta c;
    Tensor z = net(x), loss = xent(z, y);
    loss.backward();
    Tensor acc = accuracy(z, y);
    opt.step();
    if (i > 2) {
      CHECK(c.misses() == 0);
      CHECK(c.moved() == 0);
    }
    const Vec v = read(z), labels = read(y);
    double right = 0;
    for (size_t r = 0; r < 8; ++r) {
      size_t best = 0;
      for (size_t k = 1; k < 3; ++k)
        if (v[r * 3 + k] > v[r * 3 + best]) best = k;
      right += labels[r * 3 + best] == 1;
    }
    CHECK(acc.item() == Approx(right / 8));
    loss.item();
  }
}

TEST_CASE("program (t): two parameters from one zeros(); clones are second cells", "[semantics]") {
  ON_EACH_EXECUTOR();
  {
    Tensor a = zeros({3}, float64), b = zeros({3}, float64);
    CHECK(tensor::node_of(a) == tensor::node_of(b));
    a.requires_grad();
    b.requires_grad();
    CHECK_FALSE(tensor::node_of(a) == tensor::node_of(b));
    optim::SGD opt({a, b}, {.lr = .1});
    ((a * 2.0).sum() + (b * 3.0).sum()).backward();
    CHECK(read(a.grad())[0] == 2);
    CHECK(read(b.grad())[0] == 3);
    opt.step();
    CHECK(read(a)[0] != read(b)[0]);
  }
  {
    Tensor c = zeros({3}, float64), d = zeros({3}, float64);
    c += 1.0;
    d += 1.0;
    c += 1.0;
    CHECK(read(c)[0] == 2);
    CHECK(read(d)[0] == 1);
  }
  {
    Tensor f = full64({3}, 0), g = f.clone();
    f.requires_grad();
    g.requires_grad();
    optim::SGD opt({f, g}, {.lr = .1});
    ((f * 2.0).sum() + (g * 3.0).sum()).backward();
    opt.step();
    CHECK(read(f)[0] != read(g)[0]);
  }
  {
    Tensor c = full64({3}, 0), d = c.clone();
    c += 1.0;
    d += 2.0;
    realize(c, d);
    CHECK(read(c)[0] == 1);
    CHECK(read(d)[0] == 2);
  }
  Tensor W = weight({3, 3}), q = W.clone();
  q.at({Slice{0, 1}}) = full64({1, 3}, 0);
  (q * 2.0).sum().backward();
  CHECK(read(W.grad())[0] == 0);
  CHECK(read(W.grad())[3] == 2);
}
