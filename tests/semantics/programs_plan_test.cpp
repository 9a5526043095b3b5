// Programs about plans: what the key must and must not hold, and what is computed once. (u) to (ab) of the state model.
#include "semantics/support.h"
#include "sinter/random.h"

using namespace semantics;

TEST_CASE("program (u): schedules, counters and changing constants; N1 changing numbers are arguments", "[semantics]") {
  ON_EACH_EXECUTOR();
  {
    Mlp net;
    optim::Adam opt(net.p, {.lr = .1});
    for (int i = 0; i < 8; ++i) {
      CounterDelta c;
      auto [x, y] = batch();
      opt.lr = .1 / (i + 1);
      xent(net(x), y).backward();
      opt.step();
      if (i > 1) CHECK(c.misses() == 0);
    }
  }
  for (int i = 0; i < 6; ++i) {  // meets an equal constant on the way: still two
    CounterDelta c;
    CHECK(read(full64({3}, 1) * (1.0 / (i + 1)) + .5)[0] == Approx(1.0 / (i + 1) + .5));
    if (i > 1) CHECK(c.misses() == 0);
  }
  Tensor data = from(Vec{0, 1, 2, 3, 4, 5, 6, 7});
  for (int i = 0; i < 6; ++i) {  // offsets of slices
    CounterDelta c;
    CHECK(read(data.index({Slice{i, i + 2}}) * 2.0) == Vec{2.0 * i, 2.0 * i + 2});
    if (i > 1) CHECK(c.misses() == 0);
  }
  Tensor target = full64({8}, 0);
  for (int i = 0; i < 6; ++i) {  // places
    CounterDelta c;
    target.at({Slice{i, i + 2}}) = data.index({Slice{i, i + 2}});
    target.realize();
    if (i > 2) CHECK(c.misses() == 0);
  }
  CHECK(read(target) == Vec{0, 1, 2, 3, 4, 5, 6, 0});
}

TEST_CASE("program (u'): N3 a symbolic size is one plan for all its values", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Var b("batch", 1, 256);
  Tensor W = weight({6, 3});
  const Vec w = read(W);
  const no_grad off;
  int i = 0;
  for (const int64_t n : {5, 7, 5, 256, 1}) {
    Vec values(static_cast<size_t>(n) * 6);
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k % 7) - 3;
    CounterDelta c;
    Tensor x = from(values, {b(n), 6});
    const Vec got = read(matmul(x, W)), mean = read(x.mean(0));
    REQUIRE(got.size() == static_cast<size_t>(n) * 3);
    for (size_t r = 0; r < static_cast<size_t>(n); ++r) {
      double sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += values[r * 6 + k] * w[k * 3 + 1];
      CHECK(got[r * 3 + 1] == Approx(sum).margin(1e-12));
    }
    double total = 0;
    for (size_t r = 0; r < static_cast<size_t>(n); ++r) total += values[r * 6 + 2];
    CHECK(mean[2] == Approx(total / static_cast<double>(n)).margin(1e-12));
    CAPTURE(i, n);
    if (i++ > 0) CHECK(c.misses() == 0);
  }
}

TEST_CASE("program (u''): N3 one variable with two values in one plan", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Var b("batch", 1, 16);
  Tensor x = from(Vec{1, 2, 3}, {b(3)}), y = from(Vec{1, 2, 3, 4, 5}, {b(5)});
  Tensor p = x * x, q = y + y;
  realize(p, q);
  CHECK(read(p) == Vec{1, 4, 9});
  CHECK(read(q) == Vec{2, 4, 6, 8, 10});
}

TEST_CASE("program (v): N4 the key holds what decides: consumed and kept history differ", "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  auto [x, y] = batch();
  for (const bool keep : {true, false, true, false}) {
    Tensor loss = xent(net(x), y);
    loss.backward(keep);
    for (Tensor& p : net.p) p.zero_grad();
    const Vec was = read(net.p[0] + 0.0);
    {
      const no_grad off;
      net.p[0].assign(net.p[0] * .5);
    }
    loss.item();
    if (keep) {
      loss.backward();
      CHECK(close(read(net.p[2].grad()), [&] {
        Tensor old = from(was, {6, 5}).requires_grad(), w2 = net.p[2].detach().clone().requires_grad();
        xent(matmul(relu(matmul(x, old) + net.p[1].detach()), w2) + net.p[3].detach(), y).backward();
        return read(w2.grad());
      }()));
      for (Tensor& p : net.p) p.zero_grad();
    }
  }
}

TEST_CASE("program (v'): N2 random calls share one plan and differ in numbers", "[semantics]") {
  ON_EACH_EXECUTOR();
  manual_seed(3);
  std::vector<std::vector<float>> seen;
  for (int i = 0; i < 5; ++i) {
    CounterDelta c;
    Tensor u = rand({3});
    seen.push_back(u.to_vector<float>());
    CHECK(u.to_vector<float>() == seen.back());
    if (i > 0) CHECK(c.misses() == 0);
    for (int k = 0; k < i; ++k) CHECK(seen[static_cast<size_t>(k)] != seen.back());
  }
  manual_seed(3);
  CHECK(rand({3}).to_vector<float>() == seen[0]);
}

TEST_CASE("program (x): handles beside the loss; V4 a plan that passes a gradient walks the loss behind it",
          "[semantics]") {
  ON_EACH_EXECUTOR();
  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [x, y] = batch();
  for (int i = 0; i < 4; ++i) {
    CounterDelta c;
    Tensor l1, l2, acc;
    {
      Tensor z = net(x);
      l1 = xent(z, y);
      l2 = mse(z, y);
      acc = accuracy(z, y);
    }
    (l1 + l2 * .1).backward();
    opt.step();
    if (i > 2) {
      CHECK(c.plans() == 1);
      CHECK(c.moved() == 0);
    }
    CounterDelta reads;
    l1.item();
    l2.item();
    CHECK(reads.plans() == 0);
    acc.item();
    CHECK(reads.plans() == 1);
  }
}

TEST_CASE("program (y): H2 a gradient at an old version; a view kept as a member is of its version", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor A = weight({4, 4}), B = weight({4, 1}), x = noise({2, 4});
  optim::SGD oa({A}, {.lr = .1}), ob({B}, {.lr = .1});
  const Vec b0 = read(B), xs = read(x);
  Tensor h = matmul(x, A), lb = matmul(h.detach(), B).sum(), la = matmul(h, B).sum();
  lb.backward();
  ob.step();
  B.zero_grad();
  la.backward();
  Vec expected(16);
  for (size_t r = 0; r < 4; ++r)
    for (size_t k = 0; k < 4; ++k) expected[r * 4 + k] = (xs[r] + xs[4 + r]) * b0[k];
  CHECK(close(read(A.grad()), expected));

  Tensor W = weight({4, 3}), tied = W.transpose();
  optim::SGD opt({W}, {.lr = .1});
  auto step = [&] {
    matmul(matmul(x, W), tied).sum().backward();
    opt.step();
  };
  CHECK_NOTHROW(step());
  CHECK_THROWS_AS(step(), UsageError);  // the view belongs to the first version, which that backward consumed
}

TEST_CASE("program (aa): N5 equal nodes of a plan are computed once", "[semantics]") {
  ON_EACH_EXECUTOR();
  using Build = std::function<std::vector<Tensor>(const Mlp&, const Tensor&, const Tensor&)>;
  auto evaluated = [](const Build& build) {
    Mlp net;
    auto [x, y] = batch();
    for (const Tensor& p : net.p) p.realize();
    const std::vector<Tensor> values = build(net, x, y);
    CounterDelta c;
    realize_all(values);
    CHECK(c.plans() == 1);
    return c.evaluated();
  };
  const auto shared = evaluated([](const Mlp& net, const Tensor& x, const Tensor& y) -> std::vector<Tensor> {
    Tensor h = net.trunk(x);
    return {xent(net.head(h), y), (h * h).mean()};
  });
  const auto twice = evaluated([](const Mlp& net, const Tensor& x, const Tensor& y) -> std::vector<Tensor> {
    return {xent(net.head(net.trunk(x)), y), (net.trunk(x) * net.trunk(x)).mean()};
  });
  const auto plain = evaluated([](const Mlp& net, const Tensor& x, const Tensor& y) -> std::vector<Tensor> {
    return {xent(net(x), y), xent(net(x), y) * 2.0};
  });
  const auto metric = evaluated([](const Mlp& net, const Tensor& x, const Tensor& y) -> std::vector<Tensor> {
    Tensor loss = xent(net(x), y), z = net(x);
    const no_grad off;
    return {loss, xent(z, y) * 2.0};  // z is read through DETACH
  });
  CHECK(twice == shared);
  CHECK(metric == plain);

  Mlp net;
  optim::SGD opt(net.p, {.lr = .1});
  auto [x, y] = batch();
  for (int i = 0; i < 4; ++i) {
    CounterDelta c;
    Tensor h = net.trunk(x), h2 = net.trunk(x);
    Tensor l1 = xent(net.head(h), y), l2 = (h2 * h2).mean();
    (l1 + l2).backward();
    h = h2 = Tensor();
    opt.step();
    l1.item();
    l2.item();
    CHECK(c.plans() == (i == 0 ? c.plans() : 1));
    if (i < 2) continue;
    CHECK(c.misses() == 0);
    CHECK(c.moved() == 0);
  }
}

TEST_CASE("program (ab): V3 a value that a gradient will compute again keeps its sources", "[semantics]") {
  ON_EACH_EXECUTOR();
  {
    Tensor A = full64({3, 3}, 1);
    Tensor W = full64({3, 3}, 1).requires_grad();
    Tensor l = (W * (A * 2.0)).sum();
    A.assign(A + 1.0);
    l.realize();
    l.backward();
    CHECK(read(W.grad())[0] == 2);
    CHECK(read(A)[0] == 2);
  }
  Tensor W = full64({3, 3}, 3).requires_grad(), q, r;
  {
    const no_grad off;
    q = exp(W * W);
  }
  r = exp(W * W);
  {
    const no_grad off;
    W.assign(W * .5);
  }
  realize(q, r);
  r.sum().backward();
  CHECK(read(W.grad())[0] == Approx(6 * std::exp(9.0)));
  CHECK(read(W)[0] == 1.5);
}
