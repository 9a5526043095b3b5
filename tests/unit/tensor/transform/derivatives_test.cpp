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

TEST_CASE("Jacobians backward and forward are those of differences", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({1.0, 2.0, -0.5}).to(float64), y = from({0.4, -0.7}).to(float64);
  const auto f = [](const Tensor& a, const Tensor& b) { return outer(b, sin(a)) * a[0] + b.sum(); };
  // Of x along each axis: columns of the Jacobian.
  const auto differences = [&](const Tensor& at, const std::function<Tensor(const Tensor&)>& g) {
    std::vector<Tensor> columns;
    for (int64_t i = 0; i < at.size(0); ++i) {
      const Tensor step = (arange(at.size(0)) == i).to(float64) * 1e-6;
      columns.push_back((g(at + step) - g(at - step)) / 2e-6);
    }
    return stack(columns, -1);
  };
  const std::vector<double> by_x = numbers(differences(x, [&](const Tensor& a) { return f(a, y); })),
                            by_y = numbers(differences(y, [&](const Tensor& b) { return f(x, b); }));
  CHECK(jacfwd(f)(x, y).shape() == Shape{2, 3, 3});
  CHECK(jacrev(f, 1)(x, y).shape() == Shape{2, 3, 2});
  CHECK(close(numbers(jacfwd(f)(x, y)), by_x, 1e-6));
  CHECK(close(numbers(jacrev(f)(x, y)), by_x, 1e-6));
  CHECK(close(numbers(jacfwd(f, 1)(x, y)), by_y, 1e-6));
  for (const std::vector<Tensor>& both : {jacrev(f, {1, 0})(x, y), jacfwd(f, {1, 0})(x, y)}) {
    REQUIRE(both.size() == 2);
    CHECK(close(numbers(both[0]), by_y, 1e-6));
    CHECK(close(numbers(both[1]), by_x, 1e-6));
  }
  // One within the other is a Hessian; and of a function that does not depend on its argument all is 0.
  const auto scalar = [](const Tensor& a) { return (a * a).sum() * a[0]; };
  CHECK(close(numbers(jacfwd(jacrev(scalar))(x)), numbers(hessian(scalar, x))));
  CHECK(same(numbers(jacfwd([](const Tensor&) { return ones({2}, float64); })(x)), std::vector<double>(6, 0)));
  CHECK(same(numbers(jacobian(scalar, x)), numbers(jacrev(scalar)(x))));
}

TEST_CASE("derivatives with respect to several arguments", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({1.0, 2.0, -0.5}).to(float64), y = from({0.4, -0.7, 3.0}).to(float64);
  const Tensor tx = from({1.0, 0.0, 2.0}).to(float64), ty = from({-1.0, 0.5, 0.0}).to(float64);
  const auto dot = [](const Tensor& a, const Tensor& b) { return (a * a * b).sum(); };
  const std::vector<Tensor> both = grad(dot, {0, 1})(x, y);
  REQUIRE(both.size() == 2);
  CHECK(close(numbers(both[0]), numbers(x * y * 2.0)));
  CHECK(close(numbers(both[1]), numbers(x * x)));
  const auto [value, slopes] = value_and_grad(dot, {1, 0})(x, y);
  CHECK(close(numbers(value), numbers(dot(x, y))));
  CHECK(close(numbers(slopes[0]), numbers(x * x)));
  CHECK(close(numbers(slopes[1]), numbers(x * y * 2.0)));

  const auto product = [](const Tensor& a, const Tensor& b) { return a * a * b; };
  const auto [out, moved] = jvp(product, {x, y}, {tx, ty});
  CHECK(close(numbers(out), numbers(product(x, y))));
  CHECK(close(numbers(moved), numbers(x * y * 2.0 * tx + x * x * ty)));
  const auto [again, pulled] = vjp(product, {x, y}, tx);
  CHECK(close(numbers(again), numbers(product(x, y))));
  CHECK(close(numbers(pulled[0]), numbers(x * y * 2.0 * tx)));
  CHECK(close(numbers(pulled[1]), numbers(x * x * tx)));
  // Per sample.
  const Tensor xs = stack({x, tx}), ys = stack({y, ty});
  const std::vector<Tensor> each = vmap(grad(dot, {0, 1}))(xs, ys);
  CHECK(close(numbers(each[0]), numbers(xs * ys * 2.0)));
  CHECK(close(numbers(each[1]), numbers(xs * xs)));
}

TEST_CASE("what a function uses beside its argument is constant", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  Tensor y = from({3.0, -2.0}).to(float64).realize().requires_grad();
  const auto by_square = [](const Tensor& a, const Tensor& b) { return a * b * b; };
  const Tensor one = ones({2}, float64), zero = zeros({2}, float64);
  CHECK(same(numbers(jvp(by_square, {y, y}, {one, zero}).other), {9, 4}));
  CHECK(same(numbers(jvp(by_square, {y, y}, {zero, one}).other), {18, 8}));
  const auto sum = [&](const Tensor& a, const Tensor& b) { return by_square(a, b).sum(); };
  const std::vector<Tensor> both = grad(sum, {0, 1})(y, y);
  CHECK(same(numbers(both[0]), {9, 4}));
  CHECK(same(numbers(both[1]), {18, 8}));
  CHECK(same(numbers(grad([&](const Tensor& v) { return (v * y).sum(); })(y)), {3, -2}));
  CHECK(close(numbers(jacrev([&](const Tensor& v) { return v * y; })(y)), {3, 0, 0, -2}));
  CHECK(close(numbers(jacfwd([&](const Tensor& v) { return v * y; })(y)), {3, 0, 0, -2}));
  // A gradient inside of a function whose gradient is taken: of a * b the inner one is a.
  const auto outer = [](const Tensor& a) { return grad([&](const Tensor& b) { return (a * b).sum(); })(a).sum(); };
  const auto [value, slope] = value_and_grad(outer)(y);
  CHECK(value.item<double>() == 1);
  CHECK(same(numbers(slope), {1, 1}));
  // An argument on which nothing depends beside one on which all does.
  const std::vector<Tensor> some = grad([](const Tensor& a, const Tensor&) { return (a * 2.0).sum(); }, {0, 1})(y, one);
  CHECK(same(numbers(some[0]), {2, 2}));
  CHECK(same(numbers(some[1]), {0, 0}));
  const std::vector<Tensor> rows = jacrev([](const Tensor& a, const Tensor&) { return a * 2.0; }, {1, 0})(y, one);
  CHECK(same(numbers(rows[0]), {0, 0, 0, 0}));
  CHECK(same(numbers(rows[1]), {2, 0, 0, 2}));
}

TEST_CASE("functions may write to their arguments and to other tensors", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor plain = from({-1.0, 2.0}).to(float64).realize();
  Tensor leaf = plain.clone().requires_grad();
  const auto f = [](Tensor h) {
    h.mul_(2.0);
    h.relu_();
    h.at({0}).assign(h[1] * 3.0);
    return h.sum();
  };
  for (const Tensor& x : {plain, leaf}) {
    const auto [value, slope] = value_and_grad(f)(x);
    CHECK(value.item<double>() == 16);
    CHECK(same(numbers(slope), {0, 8}));
    CHECK(same(numbers(jvp(f, x, ones({2}, float64)).other), {8}));
    CHECK(same(numbers(jacrev(f)(x)), {0, 8}));
    CHECK(same(numbers(x), {-1, 2}));
    // To a tensor from outside.
    Tensor sum = zeros({2}, float64).realize();
    const auto counted = [&](const Tensor& a) {
      sum += a;
      return (a * a).sum();
    };
    for (int i = 0; i < 3; ++i) CHECK(same(numbers(grad(counted)(x)), {-2, 4}));
    CHECK(!sum.needs_grad());
    CHECK(same(numbers(sum), {-3, 6}));
  }
}

TEST_CASE("derivatives have the history of their arguments", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const auto cube = [](const Tensor& a) { return (a * a * a).sum(); };
  const Tensor plain = from({1.0, 2.0}).to(float64);
  Tensor x = from({1.0, 2.0}).to(float64).requires_grad();
  CHECK(!grad(cube)(plain).needs_grad());
  CHECK(!jacfwd(cube)(plain).needs_grad());
  CHECK(!jvp(cube, plain, plain).other.needs_grad());
  const auto [value, slope] = value_and_grad(cube)(x);
  CHECK((value.needs_grad() && slope.needs_grad()));
  CHECK(same(numbers(gradient(slope.sum(), {x})[0]), {6, 12}));
  CHECK(same(numbers(gradient(value, {x})[0]), {3, 12}));
  // no_grad around a transform does not make its gradients 0.
  const no_grad off;
  for (const Tensor& at : {plain, x}) {
    CHECK(same(numbers(grad(cube)(at)), {3, 12}));
    CHECK(same(numbers(hessian(cube)(at)), {6, 0, 0, 12}));
    CHECK(same(numbers(jvp(cube, at, ones({2}, float64)).other), {15}));
    CHECK(!grad(cube)(at).needs_grad());
    CHECK(!value_and_grad([&](const Tensor& v) { return (v + x * 2.0).sum(); })(at).value.needs_grad());
  }
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
  auto slope = jit(grad(f));
  for (int i = 0; i < 3; ++i) CHECK(close(numbers(slope(x * 2.0)), numbers(x * x * 12.0)));
  // Functions of several results.
  const auto [values, slopes] = vmap(value_and_grad(f))(x);
  CHECK(close(numbers(values), numbers((x * x * x).sum(1))));
  CHECK(close(numbers(slopes), numbers(x * x * 3.0)));
  const auto [sums, halves] = vmap([](const Tensor& a) { return std::pair(a.sum(), a / 2.0); })(x);
  CHECK(close(numbers(sums), numbers(x.sum(1))));
  CHECK(close(numbers(halves), numbers(x / 2.0)));
  const auto [least, most, same_again] = vmap([](const Tensor& a) { return std::tuple(a.amin(), a.amax(), a); })(x);
  CHECK(same(numbers(least), {1, -1, 0}));
  CHECK(same(numbers(most), {2, 3, 0.5}));
  CHECK(same(numbers(same_again), numbers(x)));
  const auto [all, each_slope] =
      vmap(value_and_grad([](const Tensor& a, const Tensor& b) { return (a * b).sum(); }, {0, 1}))(x, x);
  CHECK(close(numbers(all), numbers((x * x).sum(1))));
  CHECK(close(numbers(each_slope[1]), numbers(x)));
}

TEST_CASE("errors of transforms name the call and the line of the program", "[tensor][transform]") {
  const auto line_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const UsageError& e) { return std::string(e.what()); }
    return std::string();
  };
  const auto twice = [](const Tensor& a) { return a * 2.0; };
  for (const std::string& text : {line_of([&] { grad(twice)(zeros({2})); }), line_of([&] { jacrev(twice)(arange(2)); }),
                                  line_of([&] { vmap(twice)(zeros({})); })}) {
    INFO(text);
    CHECK(text.find("derivatives_test.cpp") != std::string::npos);
    CHECK(text.find("transforms.h") == std::string::npos);
  }
  CHECK(line_of([&] { grad(twice)(zeros({2})); }).starts_with("grad:"));
  const Var n("n", 1, 8);
  CHECK(line_of([&] { jacrev(twice)(zeros({n(3)})); }).find("a size that is known") != std::string::npos);
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
  const auto product = [](const Tensor& a, const Tensor& b) { return (a * b).sum(); };
  refused("argument -1 of 1 does not exist", [&] { grad(twice, -1)(zeros({})); });
  CHECK(grad(product, {1})(zeros({2}), ones({2})).size() == 1);
  refused("argument 1 is named twice", [&] { grad(product, {1, 1})(zeros({2}), zeros({2})); });
  refused("there are 0 arguments", [&] { grad(product, transforms::Argnums())(zeros({2}), zeros({2})); });
  refused("2 tangents are given for 1 arguments",
          [&] { transforms::jvp([](const auto& x) { return x[0]; }, {zeros({2})}, {zeros({2}), zeros({2})}); });
  refused("the tangent is float32 [3] and the argument float32 [2]",
          [&] { jvp(product, {zeros({2}), zeros({2})}, {zeros({2}), zeros({3})}); });
  refused("the function's value is bool", [&] { grad([](const Tensor& a) { return a > 0.0; })(zeros({})); });
}
