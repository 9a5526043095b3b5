// vmap() against the loop over the elements.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Tensors = std::vector<Tensor>;

struct MapCase {
  const char* name;
  TensorFunction f;
  std::vector<Shape> shapes;  ///< of the batches, along axis 0
  bool exact = true;          ///< whether sums may have another order
};

Tensor wave(const Shape& shape, int which) {
  std::vector<double> x;
  for (int64_t i = 0; i < shape.numel(); ++i) x.push_back(std::sin(1.3 * static_cast<double>(i) + which));
  return from(x, shape).to(float32).realize();
}

Tensor loop(const MapCase& c, const Tensors& x) {
  Tensors made;
  for (int64_t i = 0; i < c.shapes[0][0].value(); ++i) {
    Tensors one;
    for (const Tensor& t : x) one.push_back(t.index({i}));
    made.push_back(c.f(one));
  }
  return stack(made);
}

Tensor updated(const Tensor& x) {
  Tensor y = x * 2.0;
  y.at({Slice{0, 2}}) = x.slice(0, {1, 3});
  y += 1.0;
  return y;
}

const MapCase kCases[] = {
    {"elementwise", [](const Tensors& x) { return exp(x[0]) * 2.0 + sin(x[1]); }, {{4, 3}, {4, 3}}},
    {"of another shape", [](const Tensors& x) { return x[0] + x[1]; }, {{4, 3}, {4, 2, 1}}},
    {"constant", [](const Tensors&) { return arange(3).to(float32); }, {{4, 3}}},
    {"scalar elements", [](const Tensors& x) { return x[0] * x[0]; }, {{5}}},
    {"movement",
     [](const Tensors& x) {
       return x[0].transpose().reshape({2, 3}).flip(1).pad({{1, 0}, {0, 2}}, 3.0).slice(1, {0, 4, 2}).unsqueeze(0);
     },
     {{4, 3, 2}}},
    {"reductions",
     [](const Tensors& x) { return x[0].sum(1) + x[0].max(1) + x[0].argmax(1).to(float32); },
     {{4, 3, 5}},
     false},
    {"scan", [](const Tensors& x) { return cumsum(x[0], 0); }, {{4, 3, 2}}},
    {"products", [](const Tensors& x) { return matmul(x[0], x[1]); }, {{4, 3, 2}, {4, 2, 5}}, false},
    {"gather", [](const Tensors& x) { return x[0].index({(x[1] > 0.0).to(int64)}); }, {{4, 3, 2}, {4, 2}}},
    {"scatter",
     [](const Tensors& x) { return scatter_add(zeros({3, 2}), 0, (x[0] > 0.0).to(int64), x[0]); },
     {{4, 3, 2}}},
    {"softmax", [](const Tensors& x) { return softmax(x[0], -1); }, {{4, 3, 5}}, false},
    {"convolution", [](const Tensors& x) { return conv2d(x[0], ones({2, 1, 2, 2})); }, {{3, 2, 1, 4, 4}}, false},
    {"writes to parts", [](const Tensors& x) { return updated(x[0]); }, {{4, 3, 2}}},
    {"a gradient inside",
     [](const Tensors& x) {
       Tensor w = x[0].detach().requires_grad();
       return gradient((w * w * w).sum(), {w})[0];
     },
     {{4, 3}}},
};

}  // namespace

TEST_CASE("vmap gives what a loop over the elements gives", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  for (const MapCase& c : kCases) {
    INFO(c.name);
    Tensors x;
    for (size_t k = 0; k < c.shapes.size(); ++k) x.push_back(wave(c.shapes[k], static_cast<int>(k)));
    const Tensor got = transforms::vmap(c.f, x), want = loop(c, x);
    CHECK(got.shape() == want.shape());
    CHECK((c.exact ? same(numbers(got), numbers(want)) : close(numbers(got), numbers(want), 1e-6)));
  }
}

TEST_CASE("vmap takes and puts the batch where it is told", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = wave({3, 4}, 0), w = wave({3}, 1);
  const auto f = [](const Tensor& a, const Tensor& b) { return a * b; };
  const Tensor got = vmap(f, {.in_dims = {1, std::nullopt}, .out_dims = -1})(x, w);
  CHECK(got.shape() == Shape{3, 4});
  CHECK(same(numbers(got), numbers(x * w.unsqueeze(1))));
  // A batch of batches.
  const Tensor outer = vmap([&](const Tensor& row) { return vmap([&](const Tensor& e) { return e * e; })(row); })(x);
  CHECK(same(numbers(outer), numbers(x * x)));
}

TEST_CASE("vmap of a function of several results gives several", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = wave({3, 4}, 0), w = wave({4}, 1);
  const auto f = [&](const Tensor& e) { return std::vector<Tensor>{e * w, e.sum(), w, zeros({2})}; };
  const std::vector<Tensor> got = vmap(f)(x);
  REQUIRE(got.size() == 4);
  CHECK(same(numbers(got[0]), numbers(x * w)));
  CHECK(close(numbers(got[1]), numbers(x.sum(1)), 1e-6));
  CHECK(same(numbers(got[2]), numbers(w.expand({3, 4}))));  // depends on no element
  CHECK(got[3].shape() == Shape{3, 2});
  const std::vector<Tensor> last =
      vmap([](const Tensor& e) { return std::vector<Tensor>{e, e * 2.0}; }, {.out_dims = -1})(x);
  CHECK(same(numbers(last[1]), numbers(x.t() * 2.0)));
  CHECK(vmap([](const Tensor&) { return std::vector<Tensor>(); })(x).empty());
}

TEST_CASE("vmap of a symbolic batch is one program", "[tensor][transform]") {
  const Var n("n", 1, 16);
  const auto f = vmap([](const Tensor& x) { return (x * x).sum(); });
  const auto of = [&](int64_t count) {
    return numbers(f(from(std::vector<float>(static_cast<size_t>(count) * 3, 2.0F), {n(count), 3})));
  };
  CHECK(same(of(2), {12, 12}));
  const uint64_t misses = debug::counters().plan_misses;
  CHECK(same(of(3), {12, 12, 12}));
  CHECK(debug::counters().plan_misses == misses);
}

TEST_CASE("gradients go through vmap", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = wave({4, 3}, 0).requires_grad(), w = wave({3}, 1).requires_grad();
  const auto f = [&](const Tensor& e) { return (e * w).sum() * e[0]; };
  const std::vector<Tensor> got = gradient(vmap(f)(x).sum(), {x, w});
  const std::vector<Tensor> want = gradient(((x * w).sum(1) * x.slice(1, {0, 1}).squeeze(1)).sum(), {x, w});
  for (size_t k = 0; k < 2; ++k) CHECK(close(numbers(got[k]), numbers(want[k])));
  // Per-sample gradients.
  const auto loss = [](const Tensor& p, const Tensor& e) { return square((p * e).sum()); };
  const Tensor each = vmap(grad(loss), {.in_dims = {std::nullopt, 0}})(w.detach(), x.detach());
  const Tensor sums = (x * w).sum(1, true) * 2.0 * x;
  CHECK(close(numbers(each), numbers(sums)));
}

TEST_CASE("what a function of stand-ins must not do", "[tensor][transform]") {
  const Tensor x = wave({4, 3}, 0);
  const auto refused = [](const char* words, const std::function<void()>& call) {
    try {
      call();
      FAIL_CHECK("accepted: " << words);
    } catch (const UsageError& e) {
      INFO(e.what());
      CHECK(std::string(e.what()).find(words) != std::string::npos);
    }
  };
  refused("depends on an element of the batch",
          [&] { vmap([](const Tensor& e) { return e.sum().item() > 0 ? e : -e; })(x); });
  refused("the same for all elements", [&] { vmap([](const Tensor& e) { return e + rand({3}); })(x); });
  const char* of_sizes = "depends on the data, and vmap is one program for all elements of the batch; use ";
  refused(of_sizes, [&] { vmap([](const Tensor& e) { return nonzero(e); })(x); });
  refused(of_sizes, [&] { vmap([](const Tensor& e) { return unique(e).values; })(x); });
  refused(of_sizes, [&] { vmap([](const Tensor& e) { return e.index({e > 0.0}); })(x); });
  refused("a jitted function is one program for all calls",
          [&] { jit([](const Tensor& b) { return vmap([](const Tensor& e) { return nonzero(e); })(b); })(x); });
  refused("has 5 elements along its axis 0, and one before it 4",
          [&] { vmap([](const Tensor& a, const Tensor& b) { return a * b; })(x, wave({5, 3}, 1)); });
  refused("2 axes are given for 1 arguments", [&] { vmap([](const Tensor& e) { return e; }, {.in_dims = {0, 0}})(x); });
  refused("none of the 1 arguments has a batch",
          [&] { vmap([](const Tensor& e) { return e; }, {.in_dims = {std::nullopt}})(x); });
  CHECK(same(numbers(vmap([](const Tensor& e) { return e * 2.0; })(x)), numbers(x * 2.0)));  // nothing is left behind
}

TEST_CASE("a function of one element may write to its argument alone", "[tensor][transform]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1.0, 2.0}, {3.0, 4.0}});
  const auto written = [](const Tensor& e) {
    Tensor y = e;
    y += 1.0;
    return y * 2.0;
  };
  CHECK(same(numbers(vmap(written)(x)), {4, 6, 8, 10}));
  CHECK(same(numbers(x), {1, 2, 3, 4}));
  Tensor sum = zeros({2}, float64);
  CHECK_THROWS_WITH(vmap([&](const Tensor& e) {
                      sum += e;
                      return e;
                    })(x),
                    Catch::Contains("from outside of the function"));
  CHECK(same(numbers(sum), {0, 0}));
}
