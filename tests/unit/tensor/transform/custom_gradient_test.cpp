// custom_gradient() and hooks: values, gradients of both orders, what closures may do, and errors.
#include <memory>
#include <source_location>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Tensors = std::vector<Tensor>;

Tensor ramp(const Shape& shape, double from_value = -0.7) {
  std::vector<double> x;
  for (int64_t i = 0; i < shape.numel(); ++i) x.push_back(from_value + 0.31 * static_cast<double>(i));
  return from(x, shape).to(float32).realize();
}

/// x^2 with a gradient of its own: that of x^2, times `factor`.
auto squared(double factor) {
  return custom_gradient([](const Tensor& x) { return x * x; },
                         [factor](const Tensor& g, const Tensor& x) { return g * x * (2.0 * factor); });
}

void refused(const std::vector<std::string>& words, const std::function<void()>& call) {
  try {
    call();
    FAIL_CHECK("accepted: " << words[0]);
  } catch (const UsageError& e) {
    INFO(e.what());
    for (const std::string& w : words) CHECK(std::string(e.what()).find(w) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a custom gradient is the one that the program gives", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = ramp({2, 3}).requires_grad();
  const Tensor y = squared(10)(x * 1.0);
  CHECK(same(numbers(y), numbers(x * x)));
  const Tensor g = gradient((y * 3.0).sum(), {x})[0];
  CHECK(close(numbers(g), numbers(x * 60.0)));
  CHECK(close(numbers(gradient(g.sum(), {x})[0]), std::vector<double>(6, 60)));  // what backward makes has one too
  Tensor w = ramp({3}).requires_grad();
  squared(1)(w).sum().backward();
  CHECK(close(numbers(w.grad()), numbers(w * 2.0)));
  {
    const no_grad off;
    CHECK_FALSE(squared(1)(w).needs_grad());
  }
  CHECK_FALSE(squared(1)(w.detach()).needs_grad());
}

TEST_CASE("a custom gradient of several arguments and values", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor a = ramp({3}).requires_grad(), b = ramp({3}, 0.4).requires_grad(), c = ramp({3}, 2).requires_grad();
  int calls = 0;
  const auto f =
      custom_gradient([](const Tensor& x, const Tensor& y, const Tensor&) { return Tensors{x * y, x + y}; },
                      [&](const Tensors& g, const Tensors& values, const Tensor& x, const Tensor& y, const Tensor&) {
                        ++calls;
                        CHECK(values.size() == 2);
                        return Tensors{g[0] * y + g[1], g[0] * x + g[1] + values[1] * 0.0, Tensor()};
                      });
  const Tensors y = f(a, b, c);
  const Tensors got = gradient((exp(y[0]) * y[1]).sum(), {a, b, c});
  CHECK(calls == 1);
  const Tensors want = gradient((exp(a * b) * (a + b)).sum(), {a, b});
  CHECK(close(numbers(got[0]), numbers(want[0])));
  CHECK(close(numbers(got[1]), numbers(want[1])));
  CHECK(same(numbers(got[2]), {0, 0, 0}));
  // Only one value is used: the other's gradient is 0, and its value is known all the same.
  CHECK(close(numbers(gradient(f(a, b, c)[0].sum(), {a})[0]), numbers(b)));
  // One value is computed from the other.
  const auto chain = [&](const Tensor& first) { return f(a, first, c); };
  CHECK(close(numbers(gradient(chain(f(a, b, c)[1])[0].sum(), {a})[0]), numbers(a + (a + b))));
}

TEST_CASE("a custom gradient is one of the value, however the value is used", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const auto pass =
      custom_gradient([](const Tensor& x) { return round(x); }, [](const Tensor& g, const Tensor&) { return g; });
  const Tensor x = ramp({4}).requires_grad();
  const Tensor y = pass(x);
  y.realize();  // the value is stored, and its gradient still known
  CHECK(close(numbers(gradient((y * y).sum(), {x})[0]), numbers(y * 2.0)));
  const auto value_of_two = custom_gradient([](const Tensor& t) { return exp(t); },
                                            [](const Tensor& g, const Tensor& v, const Tensor&) { return g * v; });
  const Tensor first = gradient(value_of_two(x).sum(), {x})[0];
  CHECK(close(numbers(gradient(first.sum(), {x})[0]), numbers(exp(x))));
  // The identity.
  const auto clip = custom_gradient([](const Tensor& t) { return t; },
                                    [](const Tensor& g, const Tensor&) { return clamp(g, -1.0, 1.0); });
  CHECK(same(numbers(gradient((clip(x) * 5.0).sum(), {x})[0]), {1, 1, 1, 1}));
  CHECK(same(numbers(gradient((clip(x * 1.0) * 5.0).sum(), {x})[0]), {1, 1, 1, 1}));
}

TEST_CASE("custom gradients in vmap, transforms and jit", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = ramp({4, 3}).requires_grad();
  const auto f = squared(10);
  CHECK(close(numbers(vmap(f)(x)), numbers(x * x)));
  CHECK(close(numbers(gradient(vmap(f)(x).sum(), {x})[0]), numbers(x * 20.0)));
  // A backward function that needs the element's shape.
  const auto norm =
      custom_gradient([](const Tensor& e) { return (e * e).sum(); },
                      [](const Tensor& g, const Tensor& e) { return g * e / static_cast<double>(e.size(0).value()); });
  CHECK(close(numbers(gradient(vmap(norm)(x).sum(), {x})[0]), numbers(x / 3.0)));
  CHECK(close(numbers(vmap(grad([&](const Tensor& e) { return norm(e); }))(x.detach())), numbers(x / 3.0)));
  const Tensor v = ramp({3});
  CHECK(close(numbers(hessian([&](const Tensor& e) { return f(e).sum(); })(v)), numbers(eye(3) * 20.0)));
  CHECK(close(numbers(jacobian(f)(v)), numbers(diag(v * 20.0))));
  int calls = 0;
  const Tensor held = ramp({3}, 1);
  auto step = jit([&](const Tensor& e) {
    Tensor w = e.detach().requires_grad();
    const Tensor saved = e * 3.0;  // held by the closure while the function runs
    const auto own = custom_gradient([](const Tensor& t) { return t * 2.0; },
                                     [&calls, saved, held](const Tensor& g, const Tensor&) {
                                       ++calls;
                                       return g * saved + held;
                                     });
    return gradient(own(w).sum(), {w})[0];
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor e = ramp({3}, i);
    CHECK(close(numbers(step(e)), numbers(e * 3.0 + held)));
  }
  CHECK(calls < 4);
}

TEST_CASE("functions of gradients are freed with their nodes", "[tensor][transform][gradient]") {
  const auto alive = std::make_shared<int>(0);
  const Tensor x = ramp({3}).requires_grad();
  {
    Tensor y = x;
    for (int i = 0; i < 2000; ++i)  // each function holds the value before: freed without recursion
      y = custom_gradient([](const Tensor& t) { return t; },
                          [alive, y](const Tensor& g, const Tensor&) { return g + y * 0.0; })(y);
    CHECK(alive.use_count() > 2000);
  }
  CHECK(alive.use_count() == 1);
  {
    Tensor loss =
        custom_gradient([](const Tensor& t) { return t; }, [alive](const Tensor& g, const Tensor&) { return g; })(x)
            .sum();
    loss.backward();
    loss.item();
    CHECK(alive.use_count() == 1);  // consumed
  }
  Tensor p = ramp({3}).requires_grad();
  p.register_hook([alive](const Tensor&) {});
  CHECK(alive.use_count() == 2);
  p = Tensor();
  CHECK(alive.use_count() == 1);
}

TEST_CASE("functions of gradients may read, build gradients and throw", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = ramp({3}).requires_grad();
  double read = 0;
  const auto f = custom_gradient([](const Tensor& t) { return t * t; },
                                 [&](const Tensor& g, const Tensor& t) {
                                   read = g.sum().item() + t.sum().item();
                                   Tensor inner = t.detach().requires_grad();
                                   return g * gradient((inner * inner).sum(), {inner})[0];
                                 });
  const Tensor g = gradient((f(x * 1.0) * 2.0 + exp(x)).sum(), {x})[0];
  CHECK(close(numbers(g), numbers(x * 4.0 + exp(x))));
  CHECK(std::abs(read - (6 + x.sum().item())) < 1e-5);
  const auto bad = custom_gradient([](const Tensor& t) { return t; },
                                   [](const Tensor&, const Tensor&) -> Tensor { throw std::runtime_error("mine"); });
  CHECK_THROWS_AS(bad(x).sum().backward(), std::runtime_error);
  CHECK(close(numbers(gradient((x * x).sum(), {x})[0]), numbers(x * 2.0)));
}

TEST_CASE("gradients that do not fit are refused", "[tensor][transform][gradient]") {
  const Tensor x = ramp({3}).requires_grad(), other = ramp({3}).requires_grad();
  const auto giving = [&](const std::function<Tensors(const Tensor&)>& back) {
    return custom_gradient([](const Tensor& a, const Tensor& b) { return a + b; },
                           [back](const Tensor& g, const Tensor&, const Tensor&) { return back(g); })(x, other)
        .sum();
  };
  refused({"backward", "custom_gradient() at", "1 gradients for 2 arguments"},
          [&] { giving([](const Tensor& g) { return Tensors{g}; }).backward(); });
  refused({"gradient", "float32 [2]", "argument 1", "float32 [3]"},
          [&] { gradient(giving([](const Tensor& g) { return Tensors{g, g.slice(0, {0, 2})}; }), {other}); });
  refused({"float64 [3]", "argument 0", "float32 [3]"},
          [&] { gradient(giving([](const Tensor& g) { return Tensors{g.to(float64), g}; }), {x}); });
  refused({"the hook at", "float32 []", "float32 [3]"}, [&] {
    const Tensor y = x * 2.0;
    y.register_hook([](const Tensor& g) { return g.sum(); });
    y.sum().backward();
  });
  refused({"register_hook", "requires_grad()"}, [&] { ramp({3}).register_hook([](const Tensor&) {}); });
}

TEST_CASE("an error in a function of gradients names the call and the line in it", "[tensor][transform][gradient]") {
  const Tensor x = ramp({3}).requires_grad();
  const auto names_line = [](const Tensor& loss, uint32_t line) {
    try {
      loss.backward();
      FAIL_CHECK("nothing was refused");
    } catch (const UsageError& error) {
      CHECK(std::string(error.what()).find("reshape") == 0);
      CHECK(error.where().line() == line);
    }
  };
  const auto rule_line = std::source_location::current().line() + 1;
  const auto back = [](const Tensor& g, const Tensor&) { return g.reshape({5}); };
  const auto f = custom_gradient([](const Tensor& t) { return t * 2.0; }, back);
  names_line(f(x).sum(), rule_line);
  names_line(vmap([&](const Tensor& e) { return f(e * 2.0); })(x).sum(), rule_line);
  const Tensor y = x * 2.0;
  const auto hook_line = std::source_location::current().line() + 1;
  y.register_hook([](const Tensor& g) { return g.reshape({5}); });
  names_line(y.sum(), hook_line);
}

TEST_CASE("hooks see and change gradients", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  Tensor x = ramp({3}).requires_grad();
  const Tensor h = x * 2.0, y = (h * h).sum() + h.sum();
  std::vector<double> seen;
  RemovableHandle twice = h.register_hook([](const Tensor& g) { return g * 2.0; });  // after h was used
  h.register_hook([&](const Tensor& g) { seen = numbers(g); });
  y.backward(true);
  const std::vector<double> whole = numbers((h * 2.0 + 1.0) * 2.0);  // of both uses, doubled
  CHECK(close(seen, whole));
  CHECK(close(numbers(x.grad()), numbers((h * 2.0 + 1.0) * 4.0)));
  CHECK(close(numbers(gradient(y, {h})[0]), whole));
  twice.remove();
  twice.remove();
  x.zero_grad();
  y.backward();
  CHECK(close(numbers(x.grad()), numbers((h * 2.0 + 1.0) * 2.0)));
  CHECK(close(seen, numbers(h * 2.0 + 1.0)));
  // Of a parameter, before and after it is written.
  RemovableHandle half = x.register_hook([](const Tensor& g) { return g * 0.5; });
  for (int i = 0; i < 2; ++i) {
    x.zero_grad();
    (x * 6.0).sum().backward();
    CHECK(close(numbers(x.grad()), {3, 3, 3}));
    CHECK(close(numbers(gradient((x * 6.0).sum(), {x})[0]), {3, 3, 3}));
    const no_grad off;
    x -= x.grad();
  }
  half.remove();
  CHECK(close(numbers(gradient((x * 6.0).sum(), {x})[0]), {6, 6, 6}));
  // In a batch.
  const Tensor batch = ramp({4, 3}).requires_grad();
  const auto clipped = vmap([](const Tensor& e) {
    const Tensor t = e * 2.0;
    if (t.needs_grad()) t.register_hook([](const Tensor& g) { return g / g.sum(); });
    return (t * t).sum();
  });
  const Tensor g = gradient(clipped(batch).sum(), {batch})[0], t = batch * 4.0;
  CHECK(close(numbers(g), numbers(t / t.sum(1, true) * 2.0), 1e-4));
}
