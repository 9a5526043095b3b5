// Sorts of every length, in runs and merges, and of every type; what a plan makes of them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sinter/jit.h"
#include "sinter/sorting.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// Few different numbers, so that many are equal.
std::vector<float> repeated_numbers(int64_t count) {
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>(i * 7919 % 613) - 300.0f);
  return out;
}

std::vector<int64_t> order_of(const std::vector<float>& x, bool descending) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const float p = x[static_cast<size_t>(a)], q = x[static_cast<size_t>(b)];
    return p != q ? (descending ? p > q : p < q) : a < b;
  });
  return order;
}

}  // namespace

TEST_CASE("sorts of every length are stable", "[tensor]") {
  for (const int64_t n : {1, 2, 7, 64, 65, 300, 2047, 2049, 5000, 40000})
    for (const bool descending : {false, true}) {
      INFO(n << (descending ? " descending" : ""));
      const std::vector<float> x = repeated_numbers(n);
      const std::vector<int64_t> want = order_of(x, descending);
      CHECK(argsort(from(x), 0, descending).to_vector<int64_t>() == want);
      CHECK(argsort(from(x).to(float64), 0, descending).to_vector<int64_t>() == want);
      const int64_t k = std::min<int64_t>(n, 5);
      CHECK(topk(from(x), k, 0, descending).indices.to_vector<int64_t>() ==
            std::vector<int64_t>(want.begin(), want.begin() + k));
      CHECK(kthvalue(from(x), (n + 1) / 2).values.item<float>() ==
            x[static_cast<size_t>(order_of(x, false)[static_cast<size_t>((n - 1) / 2)])]);
    }
}

TEST_CASE("NaN is the largest number, and both zeros are equal", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const std::vector<float> x{NAN, 0.0f, -0.0f, INFINITY, -INFINITY, -NAN, 1e-45f, -0.0f};
  for (const DType dtype : {float16, bfloat16, float32, float64}) {
    INFO(name_of(dtype));
    const bool tiny = dtype == float32 || dtype == float64;  // 1e-45 is no zero
    const std::vector<int64_t> up = argsort(from(x).to(dtype)).to_vector<int64_t>();
    CHECK(up == (tiny ? std::vector<int64_t>{4, 1, 2, 7, 6, 3, 0, 5} : std::vector<int64_t>{4, 1, 2, 6, 7, 3, 0, 5}));
    CHECK(argsort(from(x).to(dtype), 0, true).to_vector<int64_t>()[1] == 5);
    CHECK(std::isnan(median(from(x).to(dtype)).item()));
    CHECK(median(from(x).to(dtype), 0).indices.item() == 0);
    CHECK(std::isnan(nanmedian(from({NAN, NAN}).to(dtype)).item()));
    CHECK(std::isnan(quantile(from(x).to(dtype), 0.5).item()));
    CHECK(nanquantile(from({NAN, 1.0, 3.0}).to(dtype), 0.5).item() == 2);
  }
}

TEST_CASE("a sort is written in place only where nobody reads what it overwrites", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from(std::vector<int64_t>{3, 1, 2, 0});
  x.realize();
  x.assign(argsort(x));
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{3, 1, 2, 0});
  x.assign(sort(x).values);
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("a sort beside other work of its operand", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from(repeated_numbers(60), {5, 3, 4});
  const Tensor y = x * 2.0 + 1.0;
  const auto [values, places] = sort(y.transpose(0, 2), 1, true);
  realize(values, places, y);
  CHECK(same(numbers(values), numbers(take_along_dim(y.transpose(0, 2), places, 1))));
  CHECK(numbers(sort(y.flatten()).values.reshape({6, 10}).flatten()) == numbers(msort(y.flatten())));
}

TEST_CASE("rows of a symbolic number", "[tensor]") {
  const Var rows("rows", 1, 8);
  for (const int64_t n : {3, 5}) {
    const Tensor x = from(repeated_numbers(n * 6), {rows(n), 6});
    CHECK(same(numbers(sort(x).values), numbers(sort(from(repeated_numbers(n * 6), {n, 6})).values)));
  }
  CHECK_THROWS_AS(sort(from(repeated_numbers(18), {rows(3), 6}), 0), UsageError);
}

TEST_CASE("what has a size of its own is refused under jit", "[tensor][jit]") {
  auto distinct = jit([](const Tensor& x) { return unique(x).values; });
  CHECK_THROWS_AS(distinct(from({1.0, 2.0})), UsageError);
  auto sorted = jit([](const Tensor& x) { return sort(x).values; });
  for (int i = 0; i < 3; ++i)
    CHECK(numbers(sorted(from({3.0, 1.0, 2.0 + i}))) == numbers(sort(from({3.0, 1.0, 2.0 + i})).values));
}

TEST_CASE("places as int32", "[tensor]") {
  const Tensor edges = from({1.0, 3.0, 5.0}), x = from({3.0, 6.0});
  CHECK(searchsorted(edges, x, true).dtype() == int32);
  CHECK(bucketize(x, edges, true, true).to_vector<int32_t>() == std::vector<int32_t>{2, 3});
  CHECK(searchsorted(edges, x).to_vector<int64_t>() == std::vector<int64_t>{1, 3});
}
