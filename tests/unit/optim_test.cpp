// Update rules against the formulas of their papers, computed here in double.
#include <cmath>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

/// Twenty steps on sum((p - target)^2 * c); returns p.
template <class Optimizer>
std::vector<double> run(typename Optimizer::Options options, int steps = 20) {
  Tensor p = from(std::vector<float>{1.0f, -2.0f, 0.5f}, {3}).requires_grad();
  Tensor c = from(std::vector<float>{1.0f, 0.5f, 2.0f}, {3});
  Optimizer opt({p}, options);
  for (int i = 0; i < steps; ++i) {
    Tensor loss = (p * p * c).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::vector<double> out;
  for (float v : p.to_vector<float>()) out.push_back(v);
  return out;
}

template <class Rule>
std::vector<double> reference(Rule rule, int steps = 20) {
  std::vector<double> p{1.0, -2.0, 0.5}, c{1.0, 0.5, 2.0};
  std::vector<double> a(3), b(3);
  for (int t = 1; t <= steps; ++t)
    for (int i = 0; i < 3; ++i) p[i] = rule(t, p[i], 2 * p[i] * c[i], a[i], b[i]);
  return p;
}

void close(const std::vector<double>& got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(2e-5).margin(2e-6));
}

}  // namespace

TEST_CASE("SGD with momentum, Nesterov, dampening and decay", "[nn]") {
  close(run<optim::SGD>({.lr = 0.05}), reference([](int, double p, double g, double&, double&) { return p - 0.05 * g; }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9}), reference([](int, double p, double g, double& v, double&) {
    v = 0.9 * v + g;
    return p - 0.05 * v;
  }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9, .dampening = 0.5}), reference([](int t, double p, double g, double& v, double&) {
    v = t == 1 ? g : 0.9 * v + 0.5 * g;
    return p - 0.05 * v;
  }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}), reference([](int, double p, double g, double& v, double&) {
    g += 0.1 * p;
    v = 0.9 * v + g;
    return p - 0.05 * (g + 0.9 * v);
  }));
  CHECK_THROWS_AS(run<optim::SGD>({.lr = 0.05, .nesterov = true}), UsageError);
}

TEST_CASE("Adam and AdamW", "[nn]") {
  auto adam = [](double decay, bool decoupled) {
    return [=](int t, double p, double g, double& m, double& v) {
      if (!decoupled) g += decay * p;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const double d = m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
      return p - 0.01 * d - (decoupled ? 0.01 * decay * p : 0.0);
    };
  };
  close(run<optim::Adam>({.lr = 0.01}), reference(adam(0, false)));
  close(run<optim::Adam>({.lr = 0.01, .weight_decay = 0.1}), reference(adam(0.1, false)));
  close(run<optim::AdamW>({.lr = 0.01, .weight_decay = 0.1}), reference(adam(0.1, true)));
}

TEST_CASE("optimisers refuse what they cannot train", "[nn]") {
  CHECK_THROWS_AS(optim::SGD({ones({2})}, {}), UsageError);
  Tensor p = ones({2}).requires_grad();
  CHECK_THROWS_AS(optim::SGD({p, p}, {}), UsageError);
  CHECK_THROWS_AS(optim::Adam({p}, {.beta1 = 1.0}), UsageError);
  CHECK_THROWS_WITH(optim::SGD({p * 2.0}, {}), Catch::Contains("leaf"));
  CHECK_THROWS_WITH(optim::SGD({p.clone()}, {}), Catch::Contains("leaf"));
  const double nan = std::nan("");
  for (double bad : {-1.0, nan, HUGE_VAL}) {
    CHECK_THROWS_AS(optim::SGD({p}, {.lr = bad}), UsageError);
    CHECK_THROWS_AS(optim::SGD({p}, {.momentum = bad}), UsageError);
    CHECK_THROWS_AS(optim::SGD({p}, {.weight_decay = bad}), UsageError);
    CHECK_THROWS_AS(optim::Adam({p}, {.lr = bad}), UsageError);
    CHECK_THROWS_AS(optim::Adam({p}, {.eps = bad}), UsageError);
    CHECK_THROWS_AS(optim::AdamW({p}, {.weight_decay = bad}), UsageError);
    optim::SGD opt({p}, {});
    opt.lr = bad;
    CHECK_THROWS_WITH(opt.step(), Catch::Contains("lr"));
  }
}

TEST_CASE("steps are counted per parameter, when it is updated", "[nn]") {
  Tensor a = zeros({1}).requires_grad(), b = zeros({1}).requires_grad();
  optim::Adam adam({a, b}, {.lr = 0.1});
  for (int i = 0; i < 50; ++i) {
    a.sum().backward();
    adam.step();
    adam.step();  // there is no gradient: no step
  }
  const double at = a.item();
  CHECK(at == Approx(-5).epsilon(1e-3));
  b.sum().backward();
  adam.step();
  CHECK(b.item() == Approx(-0.1).epsilon(1e-5));  // its first step is as long as lr
  CHECK(a.item() == at);

  Tensor c = zeros({1}).requires_grad(), d = zeros({1}).requires_grad();
  optim::SGD sgd({c, d}, {.lr = 1, .momentum = 0.9, .dampening = 0.5});
  c.sum().backward();
  sgd.step();
  d.sum().backward();
  sgd.step();
  CHECK(d.item() == -1);  // its first velocity is its gradient
}

TEST_CASE("parameters at different steps train in one plan, without compiling anew", "[nn]") {
  Tensor a = zeros({3}).requires_grad(), b = zeros({3}).requires_grad();
  optim::Adam opt({a, b}, {.lr = 0.1});
  (a * a - a).sum().backward();
  opt.step();
  uint64_t compiles = 0;
  for (int i = 0; i < 5; ++i) {
    ((a - 1.0) * (a - 1.0) + (b + 2.0) * (b + 2.0)).sum().backward();
    const debug::Counters before = debug::counters();
    opt.step();
    CHECK(debug::counters().plans - before.plans == 1);
    if (i > 1) compiles += debug::counters().compiles - before.compiles;
  }
  CHECK(compiles == 0);
}

TEST_CASE("rates and corrections are as wide as the parameters", "[nn]") {
  Tensor p = from(std::vector<double>{1.0}).requires_grad();
  optim::SGD sgd({p}, {.lr = 0.1});
  p.sum().backward();
  sgd.step();
  CHECK(p.item<double>() == 1.0 - 0.1);
  Tensor wide = from(std::vector<double>{0.0}).requires_grad(), narrow = zeros({1}).requires_grad();
  optim::Adam adam({narrow, wide}, {.lr = 0.1});
  double x = 0, m = 0, v = 0;
  for (int t = 1; t <= 5; ++t) {
    (wide * 3.0 + wide * wide).sum().backward();
    (narrow * 3.0 + narrow * narrow).sum().backward();
    adam.step();
    const double g = 3 + 2 * x;
    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
    x -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  CHECK(wide.item<double>() == Approx(x).epsilon(1e-13));
  CHECK(narrow.item<float>() == Approx(x).epsilon(1e-5));
}

TEST_CASE("a clipped gradient is what the step takes", "[nn]") {
  Tensor p = from({3.0, 4.0}).requires_grad();
  optim::SGD opt({p}, {.lr = 1});
  for (int i = 0; i < 3; ++i) {
    Tensor loss = (p * p * 0.5).sum();
    loss.backward();
    p.set_grad(p.grad() * 0.5);
    const uint64_t plans = debug::counters().plans;
    opt.step();
    loss.item();
    CHECK(debug::counters().plans == plans + 1);  // the loss is stored by the step, as without clipping
  }
  CHECK(p.to_vector<float>() == std::vector<float>{0.375f, 0.5f});
}

TEST_CASE("options of optimisers may be left out", "[nn]") {
  Tensor w = ones({2}).requires_grad();
  CHECK(optim::SGD({w}).lr == 1e-2);
  CHECK(optim::Adam({w}).lr == 1e-3);
  optim::AdamW rule({w});
  (w * 3).sum().backward();
  rule.step();
  CHECK(w.to_vector<float>()[0] == Approx(1 - 1e-3 * 1e-2 - 1e-3));
}
