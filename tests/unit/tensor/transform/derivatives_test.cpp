// Transforms of functions: derivatives against formulas and differences.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("gradients, products with Jacobians and Jacobians are those of formulas", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({1.0, 2.0, -0.5}).to(float64), v = from({0.3, -1.0, 2.0}).to(float64);
  const auto cube = [](const Tensor& a) { return (a * a * a).sum(); };
  CHECK(close(numbers(grad(cube)(x)), numbers(x * x * 3.0)));
  const auto [value, slope] = value_and_grad(cube)(x);
  CHECK(close(numbers(value), numbers(cube(x))));
  CHECK(close(numbers(slope), numbers(x * x * 3.0)));
  CHECK(close(numbers(grad([](const Tensor& a, const Tensor& b) { return (a * exp(b)).sum(); }, 1)(v, x)),
              numbers(v * exp(x))));

  const auto f = [](const Tensor& a) { return stack({a[0] * a[1], sin(a[2])}); };
  const Tensor j = jacobian(f)(x);
  CHECK(j.shape() == Shape{2, 3});
  CHECK(close(numbers(j), {2, 1, 0, 0, 0, std::cos(-0.5)}));
  CHECK(close(numbers(jvp(f, x, v).other), numbers(matmul(j, v))));
  const Tensor seed = from({2.0, -3.0}).to(float64);
  CHECK(close(numbers(vjp(f, x, seed).other), numbers(matmul(seed, j))));
  CHECK(close(numbers(jvp(f, x, v).value), numbers(f(x))));

  const Tensor h = hessian([](const Tensor& a) { return (a * a).sum() * a[0]; })(x);
  CHECK(h.shape() == Shape{3, 3});
  CHECK(close(numbers(h), {6, 4, -1, 4, 2, 0, -1, 0, 2}));
  // Constants and linear functions have derivatives too.
  CHECK(same(numbers(grad([](const Tensor&) { return ones({}, float64); })(x)), {0, 0, 0}));
  CHECK(same(numbers(hessian([](const Tensor& a) { return a.sum(); })(x)), std::vector<double>(9, 0)));
  CHECK(same(numbers(jvp([](const Tensor&) { return ones({2}, float64); }, x, v).other), {0, 0}));
}

TEST_CASE("a Hessian of a network is the Jacobian of its gradient", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  Generator g(1);
  const auto drawn = [&](Shape shape) { return randn(shape, {.dtype = float64, .generator = &g}).realize(); };
  const Tensor a = drawn({4, 3}), b = drawn({4, 4}), c = drawn({4});
  const auto net = [&](const Tensor& x) { return (tanh(matmul(b, tanh(matmul(a, x)))) * c).sum(); };
  const Tensor x = drawn({3});
  const Tensor h = hessian(net)(x);
  CHECK(same(numbers(h), numbers(jacobian(grad(net))(x))));
  CHECK(close(numbers(h), numbers(h.transpose()), 1e-12));
  for (int64_t i = 0; i < 3; ++i) {
    const double step = 1e-6;
    const Tensor up = grad(net)(x + (arange(3) == i).to(float64) * step),
                 down = grad(net)(x - (arange(3) == i).to(float64) * step);
    CHECK(close(numbers(h[i]), numbers((up - down) / (2 * step)), 1e-6));
  }
}

TEST_CASE("transforms compose, with each other and with jit", "[tensor][transform]") {
  const Tensor x = from({{1.0, 2.0}, {3.0, -1.0}, {0.5, 0.0}}).to(float32).realize();
  const auto f = [](const Tensor& a) { return (a * a * a).sum(); };
  const Tensor each = vmap(grad(f))(x);
  CHECK(close(numbers(each), numbers(x * x * 3.0)));
  const Tensor hessians = vmap(hessian(f))(x);
  CHECK(hessians.shape() == Shape{3, 2, 2});
  CHECK(close(numbers(hessians), numbers(x.unsqueeze(-1) * eye(2) * 6.0)));
  CHECK(close(numbers(grad([&](const Tensor& all) { return vmap(f)(all).sum(); })(x)), numbers(x * x * 3.0)));
  CHECK(
      close(numbers(vmap([&](const Tensor& a) { return jvp(f, a, a).other; })(x)), numbers((x * x * x * 3.0).sum(1))));
  auto compiled = jit([&](const Tensor& a) { return vmap(grad(f))(a); });
  for (int i = 0; i < 3; ++i) CHECK(close(numbers(compiled(x * 2.0)), numbers(x * x * 12.0)));
}

TEST_CASE("wrong calls of transforms are refused", "[tensor][transform]") {
  const auto refused = [](const char* words, const std::function<void()>& call) {
    try {
      call();
      FAIL_CHECK("accepted: " << words);
    } catch (const UsageError& e) {
      INFO(e.what());
      CHECK(std::string(e.what()).find(words) != std::string::npos);
    }
  };
  const auto twice = [](const Tensor& a) { return a * 2.0; };
  refused("value has shape [2], and a gradient is of a scalar", [&] { grad(twice)(zeros({2})); });
  refused("argument 0 is int64", [&] { grad(twice)(arange(2)); });
  refused("argument 1 of 1 does not exist", [&] { grad(twice, 1)(zeros({})); });
  refused("the tangent is float32 [3] and the argument float32 [2]", [&] { jvp(twice, zeros({2}), zeros({3})); });
  refused("the function's value is bool", [&] { grad([](const Tensor& a) { return a > 0.0; })(zeros({})); });
}
