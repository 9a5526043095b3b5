// Floating point and integers: F1 to F7 of docs/semantics.md.
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/cpu/thread_pool.h"
#include "semantics/support.h"
#include "sinter/error.h"

using namespace semantics;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
using F32 = std::vector<float>;

bool same_bits(const F32& a, const F32& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
F32 floats(const Tensor& t) { return t.to_vector<float>(); }

Tensor noise32(const Shape& shape) {
  std::normal_distribution<float> normal;
  F32 values(static_cast<size_t>(shape.numel()));
  for (float& v : values) v = normal(semantics::random());
  return from(values, shape);
}

/// The value of f under each executor, computed from scratch.
template <class F>
std::vector<F32> on_all(F f) {
  std::vector<F32> out;
  for (const debug::Executor e : {debug::Executor::Compiled, debug::Executor::Unfused, debug::Executor::Interpreter}) {
    debug::set_executor(e);
    out.push_back(floats(f()));
  }
  debug::set_executor(debug::Executor::Compiled);
  return out;
}

}  // namespace

TEST_CASE("F1 products and sums round separately, but for a sum of products", "[semantics]") {
  ON_EACH_EXECUTOR();
  const float a = 1.0f + 0x1p-12f, square = 1.0f + 0x1p-11f;  // a*a is square + 2^-24, which rounds to square
  Tensor x = from(F32{a});
  CHECK(floats(x * x - from(F32{square}))[0] == 0.0f);
  if (debug::executor() == debug::Executor::Interpreter) return;  // adds in double
  // In a sum of products the product is not rounded: -square*1 first, then a*a added exactly.
  CHECK(floats(matmul(from(F32{-square, a}, {1, 2}), from(F32{1, a}, {2, 1})))[0] == 0x1p-24f);
}

TEST_CASE("F2 the order of a reduction follows from the reduction, not from threads or consumers", "[semantics]") {
  const LeakCheck clean;
  Tensor x = noise32({64, 1000});
  std::vector<F32> results;
  const int before = runtime::cpu::thread_pool().threads();
  for (const int threads : {1, 2, 3}) {
    runtime::cpu::thread_pool().resize(threads);
    results.push_back(floats(x.sum(1)));
    results.push_back(floats(exp(x.sum(1) * 0.0) * x.sum(1)));  // another consumer, the same sums
    results.push_back(floats(x.sum(1).reshape({8, 8}).reshape({64})));
  }
  runtime::cpu::thread_pool().resize(before);
  for (const F32& r : results) CHECK(same_bits(r, results[0]));
}

TEST_CASE("F3 fused and unfused runs agree to the bit, for every number of threads", "[semantics]") {
  const LeakCheck clean;
  Tensor x = noise32({32, 48}), w = noise32({48, 16}), b = noise32({16});
  auto program = [&] {
    Tensor h = relu(matmul(x, w) + b);
    return h * 2.0 - h.sum(1, true) * .25 + (h * h).mean(0);
  };
  const std::vector<F32> got = on_all(program);
  CHECK(same_bits(got[0], got[1]));
  for (size_t i = 0; i < got[0].size(); ++i) CHECK(got[0][i] == Approx(got[2][i]).epsilon(1e-4).margin(1e-5));
  const int before = runtime::cpu::thread_pool().threads();
  for (const int threads : {1, 2, 4}) {
    runtime::cpu::thread_pool().resize(threads);
    CHECK(same_bits(floats(program()), got[0]));
  }
  runtime::cpu::thread_pool().resize(before);
}

TEST_CASE("F4 NaN, infinities and signed zeros behave as NumPy says", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(F32{kNan, kInf, -kInf, -0.0f, 2});
  const F32 times = floats(x * 0.0), plus = floats(x + 0.0);
  CHECK(std::isnan(times[0]));
  CHECK(std::isnan(times[1]));
  CHECK(std::signbit(times[3]));
  CHECK_FALSE(std::signbit(plus[3]));
  CHECK(floats(x - x)[4] == 0);
  CHECK(std::isnan(floats(x - x)[1]));
  const F32 most = floats(maximum(x, from(F32{1, kNan, 1, 1, 1}))), least = floats(minimum(x, 1.0));
  CHECK((std::isnan(most[0]) && std::isnan(most[1]) && most[2] == 1 && most[4] == 2));
  CHECK((std::isnan(least[0]) && least[1] == 1 && least[2] == -kInf));
  CHECK(std::isnan(x.max().item<float>()));
  CHECK(floats(from(F32{1, -1, 0}) / 0.0)[0] == kInf);
  CHECK(floats(from(F32{1, -1, 0}) / 0.0)[1] == -kInf);
  CHECK((x == x).to_vector<bool>() == std::vector<bool>{false, true, true, true, true});
}

TEST_CASE("F5 integer arithmetic: floor division, 0 from division by 0, wrapping, saturating casts", "[semantics]") {
  ON_EACH_EXECUTOR();
  using I32 = std::vector<int32_t>;
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  Tensor a = from(I32{7, -7, 7, -7, 5, kMin}), b = from(I32{2, 2, -2, -2, 0, -1});
  CHECK(floor_divide(a, b).to_vector<int32_t>() == I32{3, -4, -4, 3, 0, kMin});
  CHECK((a % b).to_vector<int32_t>() == I32{1, 1, -1, -1, 0, 0});
  CHECK((a / b).dtype() == float32);
  CHECK((from(I32{kMax, kMin}) + 1).to_vector<int32_t>() == I32{kMin, kMin + 1});
  CHECK((from(I32{1, 1}) << from(I32{33, 31})).to_vector<int32_t>() == I32{2, kMin});
  CHECK(from(F32{1e20f, -1e20f, kNan, -1.9f}).to(int32).to_vector<int32_t>() == I32{kMax, kMin, 0, -1});
  CHECK(from(F32{300.f, -5.f}).to(uint8).to_vector<uint8_t>() == std::vector<uint8_t>{255, 0});
}

TEST_CASE("F6 an index out of range is gated, and the first host read of an output throws once", "[semantics]") {
  ON_EACH_EXECUTOR();
  using I64 = std::vector<int64_t>;
  Tensor table = from(Vec{10, 20, 30});
  CHECK(read(table.index({from(I64{0, -1, 2})})) == Vec{10, 30, 30});
  Tensor picked = index_select(table, 0, from(I64{1, 3, -4})), other = picked * 2.0;
  realize(picked, other);
  CHECK_THROWS_WITH(other.to_vector<double>(), Catch::Contains("out of range"));
  CHECK(read(other) == Vec{40, 0, 0});
  CHECK(read(picked) == Vec{20, 0, 0});
  Tensor sum = scatter_add(from(Vec{1, 1}), 0, from(I64{0, 5, -1}), from(Vec{10, 100, 1000}));
  CHECK_THROWS_AS(sum.to_vector<double>(), UsageError);
  CHECK(read(sum) == Vec{11, 1001});

  // Nothing else stops: a step with a bad index is taken, and whoever reads what comes of it is told.
  Tensor w = from(Vec{1, 2, 3}).requires_grad();
  optim::SGD opt({w}, {.lr = 1.0});
  Tensor loss = index_select(w, 0, from(I64{0, 7})).sum();
  loss.backward();
  CHECK_NOTHROW(opt.step());
  CHECK_THROWS_AS(loss.item(), UsageError);
  CHECK(read(w) == Vec{0, 2, 3});
  CHECK_THROWS_AS(table.index({3}), UsageError);  // host integers are checked at the call
}

TEST_CASE("F6 an index that the compiler knows to be out of range is reported", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Tensor table = from(Vec{10, 20, 30});
  table.realize();
  const std::vector<std::function<Tensor(const Tensor&)>> picks = {
      [&](const Tensor& index) { return index_select(table, 0, index); },
      [&](const Tensor& index) { return scatter_add(table, 0, index, 1.0); },
      [&](const Tensor& index) { return pad(index_select(table, 0, index), {{1, 1}}); },
      [&](const Tensor& index) { return index_select(table, 0, index) + table[0]; },
  };
  const auto known = [&](const Tensor& index) {
    for (const auto& pick : picks) {
      const Tensor t = pick(index);
      CHECK_THROWS_WITH(t.to_vector<double>(), Catch::Contains("out of range"));
      CHECK_NOTHROW(t.to_vector<double>());
    }
  };
  for (const DType dtype : {int8, int32, int64, uint8, uint32, uint64}) {
    INFO(name_of(dtype));
    known(full({2}, 3, dtype));
    known(full({2}, 2, int64).to(dtype) + 1);
    known((arange(2) * 0 + 7).to(dtype));
    if (is_unsigned(dtype)) known(full({2}, -1, int64).to(dtype));
  }
}

TEST_CASE("F6 every index into nothing is out of range", "[semantics]") {
  ON_EACH_EXECUTOR();
  const auto bad = [](const Tensor& t, const Vec& stored) {
    CHECK_THROWS_WITH(t.to_vector<double>(), Catch::Contains("out of range"));
    CHECK(read(t) == stored);
  };
  const Tensor zero = from(std::vector<int64_t>{0}), none = from(std::vector<int64_t>{});
  bad(embedding(zero, from(Vec{}, {0, 2})), {0, 0});
  bad(embedding(zero, zeros({0, 2}, float64)), {0, 0});
  bad(embedding(from(std::vector<int64_t>{3}), zeros({2, 2}, float64)), {0, 0});  // a table of one value
  bad(scatter_add(from(Vec{}), 0, zero, 1.0), {});
  bad(from(Vec{}, {2, 0}).index({Slice{}, zero}), {0, 0});
  CHECK(read(embedding(none, from(Vec{}, {0, 2}))).empty());
  CHECK(read(scatter_add(from(Vec{}), 0, none, 1.0)).empty());
}

TEST_CASE("F6 an index by which nothing is picked is not looked at", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Dim size = GENERATE(Dim(0), Var("columns", 0, 8)(0), Var("columns", 0, 8)(3));
  const Tensor index = from(std::vector<int64_t>{0, 9});
  Tensor table = ones({2, size}).contiguous();
  table.realize();
  const auto picked = [&] { return index_select(table, 0, index); };
  const auto put = [&] { return scatter_add(table, 0, index.unsqueeze(1).expand({2, size}), table); };
  const std::vector<std::function<Tensor()>> all{picked, put},
      sums{[&] { return picked().sum(1); }, [&] { return put().sum(1); }};
  for (const auto* makes : {&all, &sums})
    for (const auto& make : *makes) {
      const Tensor t = make();
      if (size.value())
        CHECK_THROWS_WITH(t.to_vector<float>(), Catch::Contains("out of range"));
      else
        CHECK(t.to_vector<float>() == std::vector<float>(makes == &sums ? 2 : 0));
    }
}

TEST_CASE("F6 what is made from an output tells it too", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor picked = index_select(from(Vec{1, 2}), 0, from(std::vector<int64_t>{0, 9}));
  picked.realize();
  Tensor later = exp(picked);
  later.realize();
  CHECK_THROWS_AS(later.to_vector<double>(), UsageError);
  CHECK_NOTHROW(picked.to_vector<double>());
}

TEST_CASE("F7 scatter_add is deterministic: contributions are added in order", "[semantics]") {
  const LeakCheck clean;
  const std::vector<int64_t> index(64, 0);
  F32 values;
  for (int i = 0; i < 64; ++i)
    values.push_back(i % 2 ? 1e-4f * static_cast<float>(i) : 1e4f / static_cast<float>(i + 1));
  float expected = 0;
  for (float v : values) expected += v;
  const std::vector<F32> got = on_all([&] { return scatter_add(from(F32{0}), 0, from(index), from(values)); });
  for (const F32& g : got) CHECK(g == F32{expected});
}

TEST_CASE("F7 a long scatter has blocks, of sizes that follow from its shape", "[semantics]") {
  const LeakCheck clean;
  constexpr int64_t kUpdates = 20000, kElements = 50, kBlocks = 4;
  std::vector<int64_t> index;
  for (int64_t i = 0; i < kUpdates; ++i) index.push_back(i * i % kElements);
  const Tensor base = noise32({kElements}), updates = noise32({kUpdates});
  const F32 first = floats(base), values = floats(updates);
  F32 all(kElements, 0.0f), expected = first;
  for (int64_t block = 0; block < kBlocks; ++block) {
    F32 sums(kElements, 0.0f);
    for (int64_t i = block * kUpdates / kBlocks; i < (block + 1) * kUpdates / kBlocks; ++i)
      sums[static_cast<size_t>(index[static_cast<size_t>(i)])] += values[static_cast<size_t>(i)];
    for (size_t k = 0; k < all.size(); ++k) all[k] += sums[k];
  }
  for (size_t k = 0; k < all.size(); ++k) expected[k] += all[k];
  const auto program = [&] { return scatter_add(base, 0, from(index), updates); };
  const std::vector<F32> got = on_all(program);
  CHECK(same_bits(got[0], expected));
  CHECK(same_bits(got[1], expected));
  for (size_t k = 0; k < all.size(); ++k) CHECK(got[2][k] == Approx(expected[k]).epsilon(1e-4).margin(1e-4));
  const int before = runtime::cpu::thread_pool().threads();
  for (const int threads : {1, 2, 4}) {
    runtime::cpu::thread_pool().resize(threads);
    CHECK(same_bits(floats(program()), expected));
  }
  runtime::cpu::thread_pool().resize(before);
}
