// Reductions of several accumulators: rows that are too long to be kept are read once.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "cost.h"
#include "fixed_target.h"

using namespace sinter;

TEST_CASE("statistics of long rows read them once", "[launches]") {
  const FixedTarget fixed;
  constexpr int64_t rows = 32, width = 1 << 17;
  constexpr uint64_t once = rows * width * 4, small = 64 * rows;
  Tensor x = stored(rand({rows, width}) + 5.0);
  const auto one = [&](const Tensor& t) {
    const Cost c = cost(t);
    CHECK(c.launches == 1);
    CHECK(c.bytes <= once + small);
    return t.to_vector<float>();
  };
  const std::vector<float> row = x[3].to_vector<float>();
  double exponentials = 0;
  for (const float value : row) exponentials += std::exp(static_cast<double>(value));
  CHECK(one(x.var(1))[3] == Approx(1.0 / 12).epsilon(1e-2));
  CHECK(one(logsumexp(x, 1))[3] == Approx(std::log(exponentials)).epsilon(1e-6));
  CHECK(one(x.argmax(1).to(float32))[3] == static_cast<float>(std::max_element(row.begin(), row.end()) - row.begin()));
  Tensor mean = x.mean(1), variance = x.var(1, 0);
  const Cost both = cost(mean, variance);
  CHECK(both.launches == 1);
  CHECK(both.bytes <= once + small);
  CHECK(mean.to_vector<float>()[0] == Approx(5.5).epsilon(1e-2));
}

TEST_CASE("statistics of channels read the images once", "[launches]") {
  const FixedTarget fixed;
  constexpr uint64_t once = 64 * 32 * 24 * 24 * 4;
  Tensor x = stored(rand({64, 32, 24, 24}));
  Tensor mean = x.mean({0, 2, 3}), variance = x.var({0, 2, 3});
  const Cost c = cost(mean, variance);
  CHECK(c.launches == 1);
  CHECK(c.bytes <= once + 1024);
  CHECK(variance.to_vector<float>()[7] == Approx(1.0 / 12).epsilon(2e-2));
}

TEST_CASE("statistics of a whole tensor read it once, on all threads, and agree to the bit", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  using Make = std::function<Tensor(const Tensor&)>;
  const auto check = [](const Tensor& x, const Make& make) {
    const uint64_t once = static_cast<uint64_t>(x.numel()) * 4;
    const Tensor y = make(x);
    const Cost c = cost(y);
    CHECK(c.launches == 1);
    CHECK(c.bytes <= once + once / 16);
  };
  Tensor big = stored(rand({16000000})), columns = stored(rand({4096, 300})), small = stored(rand({70001}) * 4.0),
         few = stored(rand({2049, 3}) * 4.0);
  for (const Make& make :
       {Make([](const Tensor& x) { return x.argmax(0); }), Make([](const Tensor& x) { return x.argmin(0); }),
        Make([](const Tensor& x) { return x.var(0); }), Make([](const Tensor& x) { return logsumexp(x, 0); }),
        Make([](const Tensor& x) { return x.mean(0) + x.std(0); })}) {
    check(big, make);
    check(columns, make);
    for (const Tensor& x : {small, few, columns}) {
      CHECK(same_when_unfused([&] { return std::vector<Tensor>{make(x)}; }));
      CHECK(same_as_interpreted([&] { return std::vector<Tensor>{make(x)}; }));
    }
  }
}

TEST_CASE("long rows: a value is the same to the bit, alone or beside others", "[launches]") {
  const Tensor x = stored(rand({3, 6001}) * 4.0);
  const auto bits = [](const Tensor& t) { return t.to_vector<float>(); };
  Tensor mean = x.mean(1), variance = x.var(1), largest = x.max(1), total = logsumexp(x, 1);
  realize(mean, variance, largest, total);
  CHECK(bits(x.mean(1)) == bits(mean));
  CHECK(bits(x.var(1)) == bits(variance));
  CHECK(bits(x.max(1)) == bits(largest));
  CHECK(bits(logsumexp(x, 1)) == bits(total));
}

TEST_CASE("long rows: a fused and an unfused run agree to the bit", "[launches]") {
  const Tensor x = stored(rand({3, 6001}) * 4.0), v = stored(rand({6001, 5}));
  CHECK(same_when_unfused([&]() -> std::vector<Tensor> {
    return {x.var(1),    x.mean(1) + x.std(1),     logsumexp(x, 1), log_softmax(x, 1),     softmax(x, 1),
            x.argmax(1), matmul(softmax(x, 1), v), x.var(),         layer_norm(x, {6001}), cumsum(x, 1),
            cumsum(x, 0)};
  }));
}
