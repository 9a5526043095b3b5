// Programs that train, as a user types them: (a) to (i) of the state model.
#include "semantics/support.h"

using namespace semantics;

TEST_CASE("program (a): training loop, loss printed after step every 10; G5 step is one plan and the loss a read",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  const bool adam = GENERATE(false, true);
  CAPTURE(adam);
  Mlp net;
  std::unique_ptr<optim::Optimizer> opt = std::make_unique<optim::SGD>(net.p, optim::SGD::Options{.lr = .1});
  if (adam) opt = std::make_unique<optim::Adam>(net.p, optim::Adam::Options{.lr = .1});
  for (int i = 0; i < 40; ++i) {
    CounterDelta c;
    {
      auto [x, y] = batch();
      Tensor loss = xent(net(x), y);
      opt->zero_grad();
      loss.backward();
      opt->step();
      CHECK(c.plans() == (i == 0 ? c.plans() : 1));
      if (i % 10 == 0) {
        CounterDelta reading;
        loss.item();
        CHECK(reading.plans() == 0);
      }
    }
    if (i < 2) continue;
    CHECK(c.misses() == 0);
    CHECK(c.moved() == 0);
    CHECK(c.in_place() == (adam ? 12 : 4));
    CHECK(c.nodes() == 0);
    CHECK(c.buffers() == 0);
  }
}

TEST_CASE("program (b): backward, item, step; and item before backward", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [x, y] = batch();
  for (int i = 0; i < 6; ++i) {
    CounterDelta c;
    {
      Tensor loss = xent(net(x), y);
      loss.backward();
      loss.item();
      opt.step();
    }
    if (i < 3) continue;
    CHECK(c.misses() == 0);
    CHECK(c.moved() == 0);
    CHECK(c.nodes() == 0);
  }
  for (int i = 0; i < 3; ++i) {
    CounterDelta c;
    Tensor loss = xent(net(x), y);
    const double before = loss.item();
    loss.backward();
    opt.step();
    CHECK(loss.item() == before);
    if (i == 2) CHECK(c.misses() == 0);
  }
}

TEST_CASE("program (c): four micro-batches; G3 a lazy gradient is realised before it is added to", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  for (int i = 0; i < 5; ++i) {
    CounterDelta c;
    for (int k = 0; k < 4; ++k) {
      auto [x, y] = batch();
      xent(net(x), y).backward();
    }
    opt.step();
    if (i < 3) continue;
    CHECK(c.misses() == 0);
    CHECK(c.plans() == 4);
  }
}

TEST_CASE("program (d): clip by norm, printed before and after", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  for (int i = 0; i < 5; ++i) {
    CounterDelta c;
    auto [x, y] = batch();
    Tensor loss = xent(net(x), y);
    loss.backward();
    double before = 0, after = 0;
    {
      Tensor norm;
      for (const Tensor& p : net.p)
        norm = norm.defined() ? norm + (p.grad() * p.grad()).sum() : (p.grad() * p.grad()).sum();
      norm = sqrt(norm);
      before = norm.item();
      Tensor scale = 1.0 / (norm + 1e-6);
      for (const Tensor& p : net.p) {
        Tensor g = p.grad();
        g.assign(g * scale);
      }
      for (const Tensor& p : net.p) after += (p.grad() * p.grad()).sum().item();
      after = std::sqrt(after);
    }
    opt.step();
    loss.item();
    CHECK(before > 0);
    CHECK(after == Approx(1.0).epsilon(1e-4));
    if (i > 2) CHECK(c.misses() == 0);
  }
}

TEST_CASE("program (e): two losses on a shared trunk; G2 a second backward over consumed nodes names keep_graph",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  auto [x, y] = batch();
  struct Way {
    const char* name;
    bool twice, keep, between, item, ok;
  };
  for (const Way& way :
       {Way{"shared", false, false, false, false, false}, Way{"built twice", true, false, false, false, true},
        Way{"kept", false, true, false, false, true}, Way{"realised between", false, false, true, false, false},
        Way{"twice, realised between", true, false, true, false, true},
        Way{"item first", false, false, false, true, false}}) {
    CAPTURE(way.name);
    for (Tensor& p : net.p) p.zero_grad();
    Tensor h = net.trunk(x), h2 = way.twice ? net.trunk(x) : h;
    Tensor l1 = matmul(h, net.p[2]).sum(), l2 = (h2 * h2).sum();
    if (way.item) h.to_vector<double>();
    l1.backward(way.keep);
    if (way.between) {
      h.realize();
      net.p[0].grad().realize();
    }
    if (way.ok) {
      CHECK_NOTHROW(l2.backward());
    } else {
      CHECK_THROWS_WITH(l2.backward(), Catch::Contains("keep_graph"));
    }
  }
}

TEST_CASE("program (f): two networks in turn, one detached from the other", "[semantics]") {
  ON_EACH_EXECUTOR();
  std::vector<Tensor> gen{weight({4, 6})}, dis{weight({6, 1})};
  optim::SGD og(gen, {.lr = .1}), od(dis, {.lr = .1});
  for (int i = 0; i < 6; ++i) {
    CounterDelta c;
    {
      Tensor z = noise({8, 4}), real = noise({8, 6});
      Tensor fake = matmul(z, gen[0]);
      Tensor dl = (matmul(fake.detach(), dis[0]) - matmul(real, dis[0])).sum() * .01;
      dl.backward();
      od.step();
      Tensor gl = (matmul(fake, dis[0]) * -.01).sum();
      gl.backward();
      og.step();
      od.zero_grad();
      dl.item();
      gl.item();
    }
    if (i < 3) continue;
    CHECK(c.misses() == 0);
    CHECK(c.plans() == 2);
    CHECK(c.moved() == 0);
    CHECK(c.nodes() == 0);
    CHECK(c.buffers() == 0);
  }
}

TEST_CASE("program (g): moving average of weights after step; V2 an assign runs with the next plan", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  std::vector<Tensor> average;
  std::vector<Vec> expected;
  for (const Tensor& p : net.p) {
    expected.push_back(read(p));
    average.push_back(from(expected.back(), p.shape()));
  }
  for (int i = 0; i < 8; ++i) {
    CounterDelta c;
    {
      auto [x, y] = batch();
      Tensor loss = xent(net(x), y);
      loss.backward();
      opt.step();
      const no_grad off;
      for (size_t k = 0; k < average.size(); ++k) average[k].assign(average[k] * .9 + net.p[k] * .1);
    }
    if (i > 3) {
      CHECK(c.misses() == 0);
      CHECK(c.nodes() == 0);
    }
    for (size_t k = 0; k < average.size(); ++k) {
      const Vec now = read(net.p[k]);
      for (size_t j = 0; j < now.size(); ++j) expected[k][j] = expected[k][j] * .9 + now[j] * .1;
    }
    debug::counters();
  }
  for (size_t k = 0; k < average.size(); ++k) CHECK(close(read(average[k]), expected[k]));
}

TEST_CASE("program (h): running statistics assigned every step and read at the end; V2 unread cells are dropped unrun",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  Tensor mean = full64({1, 5}, 0);
  for (int i = 0; i < 8; ++i) {
    CounterDelta c;
    {
      auto [x, y] = batch();
      Tensor t = net.trunk(x), m;
      {
        const no_grad off;
        m = t.sum(0, true) * (1.0 / 8);
        mean.assign(mean * .9 + m * .1);
      }
      Tensor loss = mse(matmul(t - m, net.p[2]), y);
      loss.backward();
      t = m = Tensor();
      opt.step();
    }
    if (i < 3) continue;
    CHECK(c.misses() == 0);
    CHECK(c.plans() == 1);
    CHECK(c.nodes() == 0);
  }
  for (double v : read(mean)) CHECK(std::isfinite(v));

  CounterDelta c;
  {
    Tensor q = full64({3}, 0);
    for (int i = 0; i < 100; ++i) q.assign(q * .9 + 1.0);
  }
  CHECK(c.nodes() == 0);
  CHECK(c.plans() == 0);
}

TEST_CASE("program (i): evaluation between epochs; V1 a lazy value keeps the version that it was built from",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [vx, vy] = batch();
  for (int epoch = 0; epoch < 5; ++epoch) {
    CounterDelta c;
    for (int i = 0; i < 3; ++i) {
      auto [x, y] = batch();
      xent(net(x), y).backward();
      opt.step();
    }
    const no_grad off;
    xent(net(vx), vy).item();
    accuracy(net(vx), vy).item();
    if (epoch > 1) CHECK(c.misses() == 0);
  }
  Tensor lazy;
  double expected = 0;
  {
    const no_grad off;
    lazy = xent(net(vx), vy);
    expected = xent(net(vx) + 0.0, vy).item();
  }
  auto [x, y] = batch();
  Tensor loss = xent(net(x), y);
  loss.backward();
  opt.step();
  CHECK(lazy.item() == Approx(expected).epsilon(1e-12));
}
