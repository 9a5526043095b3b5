// Reductions: axes, types, NaN, ties and nothing at all.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("axes and kept axes", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(24, float32).reshape({2, 3, 4});
  CHECK(numbers(x.sum()) == list({276}));
  CHECK(x.sum().shape() == Shape{});
  CHECK(x.sum(all_axes, true).shape() == Shape{1, 1, 1});
  CHECK(numbers(x.sum({0, 2})) == list({60, 92, 124}));
  CHECK(numbers(x.sum({-1, 0})) == numbers(x.sum({0, 2})));
  CHECK(x.sum(1, true).shape() == Shape{2, 1, 4});
  CHECK(numbers(x.max(1)) == list({8, 9, 10, 11, 20, 21, 22, 23}));
  CHECK(numbers(x.min({0, 1})) == list({0, 1, 2, 3}));
  CHECK(numbers(x.mean(-1)) == list({1.5, 5.5, 9.5, 13.5, 17.5, 21.5}));
  CHECK(numbers(from({{1, 2}, {3, 4}}).prod(0)) == list({3, 8}));
  CHECK(numbers(Tensor(3.0).sum()) == list({3}));
  CHECK(numbers(Tensor(3.0).max()) == list({3}));
}

TEST_CASE("a reduction over {} reduces nothing", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{-1.5, 0.0}, {3.0, 4.0}}), none = zeros({0, 2});
  const std::vector<double> same_numbers{-1.5, 0, 3, 4};
  for (const Tensor& y : {x.sum({}), x.prod({}), x.mean({}), x.max({}), x.min({}), logsumexp(x, {}), x.flip({}),
                          x.sum(std::vector<int64_t>{}), x.sum({}, true)}) {
    CHECK(y.shape() == Shape{2, 2});
    CHECK(close(numbers(y), same_numbers));
  }
  CHECK(numbers(x.any({})) == list({1, 0, 1, 1}));
  CHECK(numbers(x.all({})) == list({1, 0, 1, 1}));
  CHECK(numbers(x.var({}, 0)) == list({0, 0, 0, 0}));
  CHECK(numbers(x.std({}, 0)) == list({0, 0, 0, 0}));
  CHECK(same(numbers(x.var({})), {kNan, kNan, kNan, kNan}));  // one value each, less the correction
  CHECK(x.unsqueeze(0).squeeze({}).shape() == Shape{1, 2, 2});
  CHECK(from({1, 2}, int8).sum({}).dtype() == int64);
  CHECK(from({1, 2}, int8).mean({}).dtype() == float32);
  CHECK(none.max({}).shape() == Shape{0, 2});  // of no elements none is asked for
  CHECK(numbers(x.sum(all_axes)) == list({5.5}));
  CHECK(numbers(x.max()) == list({4}));
}

TEST_CASE("an axis, an index and a window are integers of any type", "[tensor]") {
  ON_BOTH_EXECUTORS();
  enum { kRows, kColumns };
  const Tensor x = from({{1, 2}, {3, 4}});
  CHECK(numbers(x.sum(1LL)) == list({3, 7}));
  CHECK(numbers(x.sum(1u)) == list({3, 7}));
  CHECK(numbers(x.sum(size_t{1})) == list({3, 7}));
  CHECK(numbers(x.sum(kColumns)) == list({3, 7}));
  CHECK(numbers(x.index({1LL, size_t{0}})) == list({3}));
  CHECK(numbers(x.index({static_cast<short>(-1), kRows})) == list({3}));
  CHECK(x.to(float32).reshape({1, 2, 2}).flip(0ULL).shape() == Shape{1, 2, 2});
  CHECK(avg_pool2d(x.to(float32).reshape({1, 2, 2}), size_t{2}, {.stride = 1LL}).shape() == Shape{1, 1, 1});
  CHECK(Shape(std::vector<int>{2, 3}) == Shape{2, 3});
  // What int64 does not hold is out of range, and no -1.
  CHECK_THROWS_AS(x.sum(~size_t{0}), UsageError);
  CHECK_THROWS_AS(x.index({~0ULL}), UsageError);
  CHECK_THROWS_AS(x.reshape({~size_t{0}}), UsageError);
}

TEST_CASE("types of reductions", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(numbers(full({300}, 255, uint8).sum()) == list({76500}));
  CHECK(from({true, true}).sum().dtype() == int64);
  CHECK(ones({2}, int32).prod().dtype() == int64);
  CHECK(ones({2}, uint64).sum().dtype() == uint64);
  CHECK(from({1, 2}).mean().dtype() == float32);
  CHECK(numbers(from({1, 2}).mean()) == list({1.5}));
  CHECK(ones({2}, float64).mean().dtype() == float64);
  CHECK(from({3, 5}, uint8).max().dtype() == uint8);
  CHECK(from({1.0}).argmax().dtype() == int64);
  CHECK(from({1.0}).any().dtype() == boolean);
}

TEST_CASE("the variance of short rows", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(close(numbers(from({1.0, 2.0, 4.0}).var()), {7.0 / 3}));
  CHECK(close(numbers(from({1.0, 2.0, 4.0}).var(all_axes, 0)), {14.0 / 9}));
  CHECK(close(numbers(from({1.0, 2.0, 4.0}).std()), {std::sqrt(7.0 / 3)}));
  // In one pass float32 would lose every digit of it.
  CHECK(close(numbers((from({1.0, 2.0, 4.0}) + 10000.0).var()), {7.0 / 3}));
  CHECK(std::isnan(numbers(from({1.0}).var())[0]));
  CHECK(numbers(from({{1.0, 3.0}, {5.0, 5.0}}).var(1, 0, true)) == list({1, 0}));
}

TEST_CASE("nothing to reduce", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor none = zeros({0, 3});
  CHECK(numbers(none.sum()) == list({0}));
  CHECK(numbers(none.sum(0)) == list({0, 0, 0}));
  CHECK(numbers(none.prod(0)) == list({1, 1, 1}));
  CHECK(same(numbers(none.mean(0)), {kNan, kNan, kNan}));
  CHECK(numbers(none.any()) == list({0}));
  CHECK(numbers(none.all()) == list({1}));
  CHECK(none.sum(1).shape() == Shape{0});
  CHECK(none.max(1).shape() == Shape{0});
  CHECK_THROWS_AS(none.max(0), UsageError);
  CHECK_THROWS_AS(none.argmin(), UsageError);
}

TEST_CASE("a reduction of nothing has history", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (auto f :
       {+[](const Tensor& x) { return exp(x).sum(); }, +[](const Tensor& x) { return x.prod(); },
        +[](const Tensor& x) { return x.sum(0).sum(); }, +[](const Tensor& x) { return logsumexp(x, 1).sum(); }}) {
    Tensor w = from(std::vector<float>{}, {0, 3}).requires_grad();
    f(w).backward();
    CHECK(w.grad().shape() == Shape{0, 3});
    CHECK(w.grad().to_vector<float>().empty());
  }
  Tensor v = from(std::vector<float>{}, {2, 0}).requires_grad(), scale = ones({2}).requires_grad();
  Tensor y = ((v * 2.0).sum(1) + 3.0) * scale;
  CHECK(numbers(y) == list({3, 3}));
  CHECK(y.to_vector<float>() == std::vector<float>{3, 3});
  y.sum().backward();
  CHECK(v.grad().shape() == Shape{2, 0});
  CHECK(scale.grad().to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("NaN wins, and the first of equals", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({{1.0, kNan, 3.0}, {7.0, 7.0, -kInf}, {-kInf, -kInf, -kInf}});
  CHECK(same(numbers(x.max(1)), {kNan, 7, -kInf}));
  CHECK(same(numbers(x.min(1)), {kNan, -kInf, -kInf}));
  CHECK(numbers(x.argmax(1)) == list({1, 0, 0}));
  CHECK(numbers(x.argmin(1)) == list({1, 2, 0}));
  CHECK(numbers(x.argmax()) == list({1}));
  CHECK(numbers(x.slice(0, {1}).argmin()) == list({2}));
  CHECK(x.argmax(1, true).shape() == Shape{3, 1});
  CHECK(x.argmax({}, true).shape() == Shape{1, 1});
  CHECK(numbers(from({3, 9, 9, 1}).argmax()) == list({1}));
  CHECK(numbers(from({3, 1, 1}).argmin(-1)) == list({1}));
  CHECK(numbers(from({false, true, true}).argmax()) == list({1}));
  CHECK(numbers(Tensor(5.0).argmax()) == list({0}));
  CHECK(numbers(from({{0.0, kNan}, {0.0, 0.0}}).any(1)) == list({1, 0}));
  CHECK(numbers(from({{0.0, kNan}, {1.0, 2.0}}).all(1)) == list({0, 1}));
}

TEST_CASE("cumulative sums", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(24, float32).reshape({2, 3, 4});
  CHECK(numbers(cumsum(x, 2)[0]) == list({0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38}));
  CHECK(numbers(cumsum(x, -2)[1]) == list({12, 13, 14, 15, 28, 30, 32, 34, 48, 51, 54, 57}));
  CHECK(numbers(cumsum(x, 0)[1]) == numbers(x.sum(0)));
  CHECK(cumsum(x, 0).shape() == x.shape());
  CHECK(numbers(cumsum(from({true, false, true}), 0)) == list({1, 1, 2}));
  CHECK(cumsum(from({true}), 0).dtype() == int64);
  CHECK(cumsum(ones({2}, uint64), 0).dtype() == uint64);
  CHECK(cumsum(zeros({0, 3}), 0).shape() == Shape{0, 3});
  CHECK(numbers(cumsum(ones({3, 1}), 1)) == list({1, 1, 1}));
  // What follows and what goes before, other orders of the same elements.
  CHECK(numbers(cumsum(softmax(zeros({1, 4}), 1) * 4.0, 1) * 2.0) == list({2, 4, 6, 8}));
  CHECK(numbers(cumsum(x.flip({2}), 2).flip({2})[0][0]) == list({6, 6, 5, 3}));
  CHECK(numbers(cumsum(x.reshape({24}), 0).reshape({4, 6})[3]) == list({171, 190, 210, 231, 253, 276}));
  CHECK_THROWS_AS(cumsum(x, 3), UsageError);
  Tensor w = ones({2, 3}).requires_grad();
  (cumsum(w, 1) * from({{1, 2, 3}, {4, 5, 6}})).sum().backward();
  CHECK(numbers(w.grad()) == list({6, 5, 3, 15, 11, 6}));
}

TEST_CASE("long rows: mean, variance and log of sums of exponentials in one pass", "[tensor]") {
  ON_BOTH_EXECUTORS();
  // Beyond the length from which rows are read once: docs/chapters/schedule.md.
  const int64_t n = 5003;
  std::vector<float> data;
  for (int64_t i = 0; i < 3 * n; ++i) data.push_back(1000.0f + static_cast<float>(i * 7919 % 1009) / 1009.0f);
  Tensor x = from(data, {3, n});
  for (int64_t axis : {0, 1}) {
    Tensor t = axis ? x : x.transpose().contiguous();
    std::vector<double> mean, variance, expected;
    for (int64_t r = 0; r < 3; ++r) {
      double s = 0, q = 0, e = 0;
      for (int64_t i = 0; i < n; ++i) s += static_cast<double>(data[static_cast<size_t>(r * n + i)]);
      for (int64_t i = 0; i < n; ++i) {
        const double d = static_cast<double>(data[static_cast<size_t>(r * n + i)]) - s / static_cast<double>(n);
        q += d * d;
        e += std::exp(d);
      }
      mean.push_back(s / static_cast<double>(n));
      variance.push_back(q / static_cast<double>(n - 1));
      expected.push_back(std::log(e) + s / static_cast<double>(n));
    }
    CHECK(close(numbers(t.var(axis)), variance, 1e-5));
    CHECK(close(numbers(t.mean(axis)), mean, 1e-6));
    CHECK(close(numbers(logsumexp(t, axis)), expected, 1e-6));
    CHECK(close(numbers(exp(log_softmax(t, axis)).sum(axis)), {1, 1, 1}, 1e-4));
  }
  // Infinities and NaN as with two passes.
  Tensor low = full({2, n}, -kInf), high = cat({low, full({2, 1}, kInf)}, 1), half = cat({low, ones({2, 3})}, 1);
  CHECK(same(numbers(logsumexp(low, 1)), {-kInf, -kInf}));
  CHECK(same(numbers(logsumexp(high, 1)), {kInf, kInf}));
  CHECK(close(numbers(logsumexp(half, 1)), {1 + std::log(3.0), 1 + std::log(3.0)}));
  CHECK(same(numbers(logsumexp(half * kNan, 1)), {kNan, kNan}));
  CHECK(same(numbers(softmax(low, 1)[0][0]), {kNan}));
  CHECK(same(numbers(softmax(half, 1)[0][0]), {0}));
  CHECK(same(numbers(high.var(1)), {kNan, kNan}));
  Tensor one = cat({zeros({2, n}), full({2, 1}, kInf)}, 1), mean = one.mean(1), variance = one.var(1);
  realize(mean, variance);
  CHECK(same(numbers(mean), {kInf, kInf}));
  CHECK(same(numbers(variance), {kNan, kNan}));
}

TEST_CASE("the gradient of a deviation of 0 is 0", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from(std::vector<double>{1, 1, 1, 1, 1, 3}, {2, 3}).requires_grad();
  CHECK(numbers(gradient(sinter::std(x, 1).sum(), {x})[0].slice(0, 0, 1)) == list({0, 0, 0}));
  CHECK(numbers(gradient(std_mean(ones({4}) * x[0][0]).first, {x})[0]) == list({0, 0, 0, 0, 0, 0}));
}

TEST_CASE("integers are close by their difference", "[tensor]") {
  constexpr int64_t kLarge = int64_t{1} << 60, kLeast = std::numeric_limits<int64_t>::min();
  CHECK_FALSE(allclose(from(std::vector<int64_t>{16777217}), from(std::vector<int64_t>{16777216}), 0, 0));
  CHECK_FALSE(allclose(from(std::vector<int64_t>{kLarge + 1}), from(std::vector<int64_t>{kLarge}), 0, 0));
  CHECK(allclose(from(std::vector<int64_t>{kLarge + 1}), from(std::vector<int64_t>{kLarge}), 0, 1));
  CHECK_FALSE(allclose(from(std::vector<int64_t>{kLeast}), from(std::vector<int64_t>{kLarge}), 0, 1));
  CHECK(allclose(from(std::vector<uint8_t>{3}), from(std::vector<uint8_t>{5}), 0, 2));
  CHECK_FALSE(allclose(from(std::vector<uint8_t>{3}), from(std::vector<uint8_t>{5}), 0, 1));
}
