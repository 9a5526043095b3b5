// Gradients of the public functions against central differences in float64, first and second order.
#include <functional>

#include "ir/tensor_graph.h"
#include "ir/walk.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Function = std::function<Tensor(const Tensor&)>;
using Values = std::vector<double>;

double loss_at(const Function& f, const Values& x, const Shape& shape) { return numbers(f(from(x, shape)).sum())[0]; }

Values slope(const Function& f, const Values& x, const Shape& shape) {
  Values out;
  for (size_t i = 0; i < x.size(); ++i) {
    const double h = 1e-6 * std::max(1.0, std::abs(x[i]));
    Values up = x, down = x;
    up[i] += h;
    down[i] -= h;
    out.push_back((loss_at(f, up, shape) - loss_at(f, down, shape)) / (2 * h));
  }
  return out;
}

Tensor gradient_of(const Function& f, const Tensor& x) { return gradient(f(x).sum(), {x})[0]; }
Tensor leaf(const Values& x, const Shape& shape) {
  Tensor t = from(x, shape);
  t.requires_grad();
  return t;
}

struct Case {
  const char* name;
  Function f;
  Shape shape = {2, 3};
  Values x = {-1.3, 0.4, 2.1, 0.7, -0.2, 1.6};
};

const Values kWeights = {0.3, -1.2, 0.8, 2.0, 0.1, -0.5};
Tensor weights(const Shape& shape) { return from(kWeights, shape); }
const Values kPositive = {0.3, 1.4, 2.1, 0.7, 0.2, 1.6};

// Each is multiplied by fixed weights, so that no two elements have the same gradient.
const Case kCases[] = {
    {"exp", [](const Tensor& x) { return exp(x) * weights({2, 3}); }},
    {"exp2", [](const Tensor& x) { return exp2(x) * weights({2, 3}); }},
    {"log", [](const Tensor& x) { return log(x) * weights({2, 3}); }, {2, 3}, kPositive},
    {"log2", [](const Tensor& x) { return log2(x) * weights({2, 3}); }, {2, 3}, kPositive},
    {"sqrt", [](const Tensor& x) { return sqrt(x) * weights({2, 3}); }, {2, 3}, kPositive},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x) * weights({2, 3}); }, {2, 3}, kPositive},
    {"sin", [](const Tensor& x) { return sin(x) * weights({2, 3}); }},
    {"cos", [](const Tensor& x) { return cos(x) * weights({2, 3}); }},
    {"tan", [](const Tensor& x) { return tan(x) * weights({2, 3}); }},
    {"tanh", [](const Tensor& x) { return tanh(x) * weights({2, 3}); }},
    {"erf", [](const Tensor& x) { return erf(x) * weights({2, 3}); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x) * weights({2, 3}); }},
    {"silu", [](const Tensor& x) { return silu(x) * weights({2, 3}); }},
    {"gelu", [](const Tensor& x) { return gelu(x) * weights({2, 3}); }},
    {"gelu tanh", [](const Tensor& x) { return gelu(x, Gelu::Tanh) * weights({2, 3}); }},
    {"reciprocal", [](const Tensor& x) { return reciprocal(x) * weights({2, 3}); }},
    {"relu", [](const Tensor& x) { return relu(x) * x; }},
    {"abs", [](const Tensor& x) { return abs(x) * weights({2, 3}); }},
    {"square", [](const Tensor& x) { return square(x) * weights({2, 3}); }},
    {"clamp", [](const Tensor& x) { return clamp(x, -0.5, 1.0) * x; }},
    {"maximum", [](const Tensor& x) { return maximum(x, weights({2, 3})) * x; }},
    {"minimum", [](const Tensor& x) { return minimum(x, weights({2, 3})) * x; }},
    {"pow", [](const Tensor& x) { return pow(x, 2.5) * weights({2, 3}); }, {2, 3}, kPositive},
    {"pow 2", [](const Tensor& x) { return pow(x, 2) * weights({2, 3}); }},
    {"pow of both", [](const Tensor& x) { return pow(x, x); }, {2, 3}, kPositive},
    {"divide", [](const Tensor& x) { return weights({2, 3}) / (x + 3.0); }},
    {"remainder", [](const Tensor& x) { return (x % 0.75) * x; }},
    {"where", [](const Tensor& x) { return where(x > 0.5, x * x, exp(x)); }},
    {"broadcast", [](const Tensor& x) { return x.unsqueeze(1) * x * weights({2, 1, 3}); }},
    {"sum", [](const Tensor& x) { return square(x.sum(0)); }},
    {"prod", [](const Tensor& x) { return x.prod(1) * from({1.0, 2.0}, float64); }},
    {"mean", [](const Tensor& x) { return square(x.mean(1)); }},
    {"var", [](const Tensor& x) { return x.var(1) * from({1.0, 2.0}, float64); }},
    {"std", [](const Tensor& x) { return x.std(0); }},
    {"max", [](const Tensor& x) { return square(x.max(1)); }},
    {"min", [](const Tensor& x) { return square(x.min(0)); }},
    {"logsumexp", [](const Tensor& x) { return logsumexp(x, 1) * from({1.0, 2.0}, float64); }},
    {"cumsum", [](const Tensor& x) { return square(cumsum(x, 1)); }},
    {"softmax", [](const Tensor& x) { return softmax(x) * weights({2, 3}); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x, 0) * weights({2, 3}); }},
    {"layer_norm",
     [](const Tensor& x) { return layer_norm(x, {3}, weights({6}).slice(0, {0, 3}), weights({6}).slice(0, {3})) * x; }},
    {"cross_entropy", [](const Tensor& x) { return cross_entropy(x, from({2, 0})); }},
    {"cross_entropy that ignores", [](const Tensor& x) { return cross_entropy(x, from({2, 1}), {.ignore_index = 1}); }},
    {"cross_entropy of probabilities", [](const Tensor& x) { return cross_entropy(x, softmax(weights({2, 3}))); }},
    {"mse_loss", [](const Tensor& x) { return mse_loss(x, weights({2, 3})); }},
    {"l1_loss", [](const Tensor& x) { return l1_loss(x, weights({2, 3})); }},
    {"bce", [](const Tensor& x) { return binary_cross_entropy_with_logits(x, sigmoid(weights({2, 3}))); }},
    {"matmul", [](const Tensor& x) { return matmul(x, matmul(x.transpose(), weights({2, 3}))); }},
    {"matmul of batches", [](const Tensor& x) { return matmul(x.reshape({2, 1, 3}), weights({3, 2}) * x.sum()); }},
    {"einsum",
     [](const Tensor& x) { return einsum("ij,kj,ik->j", {x, x, weights({6}).slice(0, {0, 4}).reshape({2, 2})}); }},
    {"reshape and permute", [](const Tensor& x) { return x.reshape({3, 2}).transpose() * weights({2, 3}); }},
    {"flip and pad", [](const Tensor& x) { return x.flip(1).pad({{1, 2}}) * weights({6}); }},
    {"slice", [](const Tensor& x) { return square(x.slice(1, {{}, {}, -2})); }},
    {"cat", [](const Tensor& x) { return cat({x, x * x, x}, 1).slice(1, {1, 8}) * 3.0; }},
    {"stack", [](const Tensor& x) { return stack({x, exp(x)}, 1) * weights({2, 1, 3}); }},
    {"gather",
     [](const Tensor& x) { return gather(x, 1, from({{2, 2, 0, -1}, {1, 1, 1, 0}})) * weights({6}).slice(0, {0, 4}); }},
    {"index", [](const Tensor& x) { return square(x.index({from({1, 0, 1}), from({0, 2, 0})})); }},
    {"embedding", [](const Tensor& x) { return embedding(from({{1, 0}, {1, 1}}), x) * weights({2, 1, 3}); }},
    {"scatter_add", [](const Tensor& x) { return square(scatter_add(x, 1, from({{1}, {1}}), x.slice(1, {0, 1}))); }},
};

}  // namespace

TEST_CASE("gradients of the public functions agree with differences", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  for (const Case& c : kCases) {
    INFO(c.name);
    Tensor x = leaf(c.x, c.shape);
    CHECK(close(numbers(gradient_of(c.f, x)), slope(c.f, c.x, c.shape), 1e-6));
  }
}

TEST_CASE("second derivatives agree with differences of the first", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  for (const Case& c : kCases) {
    INFO(c.name);
    // The weights make the sum of first derivatives a function of every element; a first derivative that is constant in
    // x has no second one to compare.
    Function first = [&](const Tensor& x) {
      Tensor t = x.needs_grad() ? x : [&] {
        Tensor copy = x;
        copy.requires_grad();
        return copy;
      }();
      return gradient_of(c.f, t) * weights(c.shape) + 0.5 * t * t;
    };
    Tensor x = leaf(c.x, c.shape);
    CHECK(close(numbers(gradient_of(first, x)), slope(first, c.x, c.shape), 1e-5));
  }
}

TEST_CASE("gradients where functions bend", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  auto at = [](const Function& f, double x) { return numbers(gradient_of(f, leaf({x}, {1})))[0]; };
  CHECK(at([](const Tensor& x) { return relu(x); }, 0) == 0);
  CHECK(at([](const Tensor& x) { return clamp(x, 0, 1); }, 0) == 1);
  CHECK(at([](const Tensor& x) { return clamp(x, 0, 1); }, 1) == 1);
  CHECK(at([](const Tensor& x) { return clamp(x, 0, 1); }, 1.5) == 0);
  CHECK(at([](const Tensor& x) { return maximum(x, 0); }, 0) == 0.5);
  CHECK(at([](const Tensor& x) { return sign(x); }, 0) == 0);
  CHECK(at([](const Tensor& x) { return sign(x); }, 3) == 0);
  CHECK(at([](const Tensor& x) { return sigmoid(x); }, 0) == 0.25);
  CHECK(at([](const Tensor& x) { return sigmoid(x); }, -800) == 0);
  CHECK(at([](const Tensor& x) { return sigmoid(x); }, 800) == 0);
  CHECK(at([](const Tensor& x) { return binary_cross_entropy_with_logits(x, full({1}, 0.2, float64)); }, 0) ==
        Approx(0.3));
  CHECK(at([](const Tensor& x) { return tanh(x); }, 400) == 0);
  CHECK(numbers(gradient_of([](const Tensor& x) { return x.max(); }, leaf({2, 5, 5, 1}, {4}))) ==
        list({0, 0.5, 0.5, 0}));
  CHECK(numbers(gradient_of([](const Tensor& x) { return logsumexp(x); }, leaf({1000, 1000}, {2}))) ==
        list({0.5, 0.5}));
}

TEST_CASE("the gradient of a remainder counts whole divisors", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor y = leaf({0.1, 0.1, 3}, {3});  // 1 / 0.1 rounds up to 10, 9 of which fit
  CHECK(numbers(gradient(remainder(from({1.0, -1.0, 7.0}), y).sum(), {y})[0]) == list({-9, 10, -2}));
}

TEST_CASE("a seed is the factor of each element", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({1.0, 2.0, 3.0}).requires_grad();
  const Tensor y = x * x, seed = from({1.0, 0.0, -1.0});
  CHECK(gradient(y, {x}, seed)[0].to_vector<float>() == std::vector<float>{2, 0, -6});
  y.backward(seed, true);
  y.backward(seed);
  CHECK(x.grad().to_vector<float>() == std::vector<float>{4, 0, -12});
}

namespace {

/// Products of stacked factors: sums over steps and rows.
size_t joined_products(const Tensor& grad) {
  ir::GraphScope scope;
  size_t count = 0;
  for (ir::UOp n : ir::topological(tensor::node_of(grad)))
    count +=
        n->op == ir::Op::Reduce && n->shape.rank() == 2 && n->src[0]->op == ir::Op::Mul && n->src[0]->shape.rank() == 4;
  return count;
}

}  // namespace

TEST_CASE("a weight that each step of a loop uses gets few products", "[tensor][gradient]") {
  constexpr int64_t kSteps = 70, kRows = 3, kIn = 8, kOut = 9;
  std::vector<double> values(kSteps * kRows * kIn), matrix(kIn * kOut);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) * 0.7);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::cos(static_cast<double>(i) * 1.3);
  const Tensor x = from(values, {kSteps, kRows, kIn});
  for (const bool transposed : {false, true}) {
    Tensor w = transposed ? from(matrix, {kIn, kOut}).transpose().contiguous() : from(matrix, {kIn, kOut});
    w.requires_grad();
    Tensor loss;
    for (int64_t t = 0; t < kSteps; ++t) {
      const Tensor y = matmul(x[t], transposed ? w.transpose() : w);
      loss = t == 0 ? (y * y).sum() : loss + (y * y).sum();
    }
    const Tensor grad = gradient(loss, {w})[0];
    CHECK(joined_products(grad) == 3);  // of 23 or 24 steps each
    // The same of all rows at once: 2 x^T x w.
    const Tensor rows = x.reshape({kSteps * kRows, kIn});
    const Tensor want = matmul(rows.transpose(), matmul(rows, from(matrix, {kIn, kOut}))) * 2.0;
    const std::vector<double> got = numbers(grad), expected = numbers(transposed ? want.transpose() : want);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-12));
    loss.backward();
    CHECK(numbers(w.grad()) == got);
  }
}

TEST_CASE("products of a recurrent loop are joined in every type, and differentiate again", "[tensor][gradient]") {
  for (const DType dtype : {float64, float16}) {
    INFO(dtype);
    const auto matrix = [&](int64_t rows, int64_t columns, double phase) {
      std::vector<double> values(static_cast<size_t>(rows * columns));
      for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) * 0.9 + phase) * 0.5;
      return from(values, {rows, columns}).to(dtype);
    };
    Tensor w = matrix(8, 8, 0).realize();
    w.requires_grad();
    const auto loss = [&](const Tensor& weight) {
      Tensor h = matrix(2, 8, 1);
      for (int t = 0; t < 6; ++t) h = tanh(matmul(h, weight));
      return (h * h).sum();
    };
    const Tensor grad = gradient(loss(w), {w})[0];
    CHECK(joined_products(grad) == 1);
    CHECK(grad.dtype() == dtype);
    // Against six weights of the same value, each of which is used once.
    std::vector<Tensor> copies;
    Tensor h = matrix(2, 8, 1);
    for (int t = 0; t < 6; ++t) {
      copies.push_back(w.detach().clone().realize().requires_grad());
      h = tanh(matmul(h, copies.back()));
    }
    std::vector<double> want(64);
    for (const Tensor& g : gradient((h * h).sum(), copies)) {
      const std::vector<double> part = numbers(g.to(float64));
      for (size_t i = 0; i < want.size(); ++i) want[i] += part[i];
    }
    const std::vector<double> got = numbers(grad.to(float64));
    for (size_t i = 0; i < want.size(); ++i)
      CHECK(got[i] == Approx(want[i]).epsilon(0).margin(dtype == float64 ? 1e-13 : 2e-2));
    if (dtype != float64) continue;
    // The second derivative, through the joined product.
    const auto slope_at = [&](const Tensor& weight) {
      const std::vector<double> g = numbers(gradient(loss(weight), {weight})[0]);
      double sum = 0;
      for (size_t i = 0; i < g.size(); ++i) sum += g[i] * std::cos(static_cast<double>(i));
      return sum;
    };
    std::vector<double> factors(64);
    for (size_t i = 0; i < factors.size(); ++i) factors[i] = std::cos(static_cast<double>(i));
    const std::vector<double> second =
        numbers(gradient((gradient(loss(w), {w})[0] * from(factors, {8, 8})).sum(), {w})[0]);
    for (const size_t at : {size_t{0}, size_t{19}, size_t{63}}) {
      std::vector<double> values = numbers(w), low = values;
      values[at] += 1e-5, low[at] -= 1e-5;
      const double want_second =
          (slope_at(from(values, {8, 8}).requires_grad()) - slope_at(from(low, {8, 8}).requires_grad())) / 2e-5;
      CHECK(second[at] == Approx(want_second).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("gradients that are stored are read, not walked into", "[tensor][gradient]") {
  Tensor w = from(Values{1, 2, 3, 4, 5, 6}, {6});
  w.requires_grad();
  Tensor seed = (from(Values{1, 2, 3, 4, 5, 6}, {2, 3}) * 2.0).reshape({6});
  seed.realize();
  (w + w + w + w).backward(seed);
  CHECK(numbers(w.grad()) == Values{8, 16, 24, 32, 40, 48});

  Tensor s = from(Values{0.5, -1, 2}, {3});
  s.requires_grad();
  const auto terms = [&](const Tensor& m, const Tensor& v) {
    Tensor loss;
    for (int t = 0; t < 4; ++t) {
      const Tensor term = tanh((v.expand({4, 3}) * m).sum(1)).sum();
      loss = t == 0 ? term : loss + term;
    }
    return loss;
  };
  const Tensor stored = sin(from(Values{0.1, 0.2, 0.3}, {3})).expand({4, 3}).realize();
  terms(stored, s).backward();
  const Tensor lazy = sin(from(Values{0.1, 0.2, 0.3}, {3})).expand({4, 3});
  const Values want = numbers(gradient(terms(lazy, s), {s})[0]), got = numbers(s.grad());
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-14));
}
