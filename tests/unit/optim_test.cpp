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
}
