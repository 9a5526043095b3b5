// Scans: ties, NaN and infinity, zeros, types, long rows, and second derivatives.
#include "unit/differences.h"

using namespace sinter;
using namespace sinter::testing;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("cumulative products", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(numbers(cumprod(from({{1, 2, 3}, {4, 0, 5}}), 1)) == list({1, 2, 6, 4, 0, 0}));
  CHECK(cumprod(from({true, false}), 0).dtype() == int64);
  CHECK(cumprod(ones({2}, uint64), 0).dtype() == uint64);
  CHECK(cumprod(zeros({0, 3}), 0).shape() == Shape{0, 3});
}

TEST_CASE("gradients of cumulative products with zeros", "[tensor]") {
  for (const std::vector<double>& x : {std::vector<double>{0.5, 0, 2, 3}, {0, 0, 2, 3}, {1, 2, 3, 0}, {0, 1, 0, 2}}) {
    const FunctionOf value = [](const Tensors& leaves) { return weighted_sum(cumprod(leaves[0], 0)); };
    compare_slopes(value, {x}, {{4}}, 1e-6);
    compare_slopes([&](const Tensors& leaves) { return weighted_sum(gradient(value(leaves), leaves)[0]); }, {x}, {{4}},
                   1e-5);
  }
}

TEST_CASE("running maxima take the last of equal elements, and a NaN for good", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({1.0, 3.0, 3.0, 2.0, kNan, 5.0, kNan, 1.0});
  const auto [high, where_high] = cummax(x, 0);
  CHECK(same(numbers(high), {1, 3, 3, 3, kNan, kNan, kNan, kNan}));
  CHECK(numbers(where_high) == list({0, 1, 2, 2, 4, 4, 6, 6}));
  const auto [low, where_low] = cummin(from({3, 1, 2, 1, 0}), -1);
  CHECK(numbers(low) == list({3, 1, 1, 1, 0}));
  CHECK(numbers(where_low) == list({0, 1, 1, 3, 4}));
  CHECK(low.dtype() == int64);
  CHECK(where_low.dtype() == int64);
  const auto [any, first] = cummax(from({false, true, false}), 0);
  CHECK(any.dtype() == boolean);
  CHECK(numbers(any) == list({0, 1, 1}));
  CHECK(cummax(zeros({0, 2}), 1).indices.shape() == Shape{0, 2});
  Tensor w = from({1.0, 2.0, 2.0, 0.0}).requires_grad();
  (cummax(w, 0).values * from({1.0, 10.0, 100.0, 1000.0})).sum().backward();
  CHECK(numbers(w.grad()) == list({1, 10, 1100, 0}));
}

TEST_CASE("logcumsumexp beyond the range of exp", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(close(numbers(logcumsumexp(from({1000.0, 1000.0, -1000.0, 1001.0}), 0)),
              {1000, 1000.6931471805599, 1000.6931471805599, 1001.5514447139320}, 1e-6));
  CHECK(same(numbers(logcumsumexp(from({-kInf, -kInf, 0.0, kInf, 1.0}), 0)), {-kInf, -kInf, 0, kInf, kInf}));
  CHECK(same(numbers(logcumsumexp(from({0.0, kNan, 1.0}), 0)), {0, kNan, kNan}));
  Tensor x = from({-kInf, 0.0, 500.0, 1000.0}).requires_grad();
  logcumsumexp(x, 0).index({3}).backward();
  CHECK(close(numbers(x.grad()), {0, 0, 0, 1}, 1e-6));
}

TEST_CASE("scans of rows that are cut into blocks", "[tensor]") {
  const int64_t n = 5003;
  std::vector<double> data;
  for (int64_t i = 0; i < 2 * n; ++i) data.push_back(std::sin(0.37 * static_cast<double>(i)));
  const Tensor x = from(data, {2, n});
  const auto [values, indices] = cummax(x.flip({1}), 1);
  double sum = 0, high = -2, exponents = 0;
  std::vector<double> sums, highs, logs;
  for (int64_t i = 0; i < n; ++i) {
    sums.push_back(sum += data[static_cast<size_t>(n + i)]);
    highs.push_back(high = std::max(high, data[static_cast<size_t>(2 * n - 1 - i)]));
    logs.push_back(std::log(exponents += std::exp(data[static_cast<size_t>(n + i)])));
  }
  CHECK(close(numbers(cumsum(x, 1)[1]), sums, 1e-5));
  CHECK(close(numbers(values[1]), highs, 1e-7));
  CHECK(same(numbers(take_along_dim(x.flip({1}), indices, 1)), numbers(values)));
  CHECK(close(numbers(logcumsumexp(x, 1)[1]), logs, 1e-5));
  CHECK(numbers(cumsum(arange(2 * n).reshape({n, 2}), 0)[n - 1]) == list({double((n - 1) * n), double(n * n)}));
  CHECK(numbers(cumsum(arange(n), 0).flip({0})[0] * 2) == list({double(n * (n - 1))}));
}

TEST_CASE("integrals by trapezoids", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor y = from({{1, 2, 4}, {0, 2, 6}});
  CHECK(numbers(trapezoid(y)) == list({4.5, 5}));
  CHECK(numbers(trapezoid(y, 2.0, 0)) == list({1, 4, 10}));
  CHECK(numbers(trapezoid(y, from({0, 1, 3}))) == list({7.5, 9}));
  CHECK(numbers(cumulative_trapezoid(y, from({0, 1, 3}))) == list({1.5, 7.5, 1, 9}));
  CHECK(numbers(trapezoid(zeros({2, 0}))) == list({0, 0}));
  CHECK(cumulative_trapezoid(zeros({2, 1})).shape() == Shape{2, 0});
  CHECK(trapezoid(y).dtype() == float32);
}
