// Writing to indexed elements: order of updates, gradients at ties and zeros, assignment, masks, jit.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

TEST_CASE("of several updates of an element the last stays and takes the gradient", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor index = from({1, 0, -1, 1, -2});  // 1, 0, 2, 1, 1
  Tensor x = from({10.0, 20.0, 30.0}), v = from({1.0, 2.0, 3.0, 4.0, 5.0});
  CHECK(numbers(scatter(x, 0, index, v)) == list({2, 5, 3}));
  CHECK(numbers(scatter(x.to(float16), 0, index, v.to(float16))) == list({2, 5, 3}));
  CHECK(numbers(scatter(x.to(uint8), 0, index.to(int32), v.to(uint8))) == list({2, 5, 3}));
  CHECK(numbers(scatter(x, 0, zeros({0}, int64), zeros({0}))) == list({10, 20, 30}));
  CHECK(numbers(scatter(x, 0, from({1, 1}), 7)) == list({10, 7, 30}));
  std::vector<int64_t> same_place(100, 1);  // the index is one expression for all updates
  CHECK(numbers(scatter(x, 0, full({100}, 1, int64), arange(100, float32))) == list({10, 99, 30}));
  CHECK(numbers(scatter(x, 0, from(same_place), arange(100, float32))) == list({10, 99, 30}));
  x.requires_grad();
  v.requires_grad();
  const Tensor weights = from({1.0, 10.0, 100.0});
  const std::vector<Tensor> g = gradient((scatter(x, 0, from({1, 0, 1}), v.slice(0, {0, 3})) * weights).sum(), {x, v});
  CHECK(numbers(g[0]) == list({0, 0, 100}));
  CHECK(numbers(g[1]) == list({0, 1, 10, 0, 0}));
}

TEST_CASE("gradients of scattered products and extrema: zeros and ties", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor index = from({0, 0, 1, 1, 2});
  auto slopes = [&](std::vector<double> base, std::vector<double> updates, ScatterReduce reduce, bool self = true) {
    Tensor x = from(base), v = from(updates);
    x.requires_grad();
    v.requires_grad();
    std::vector<double> both;
    for (const Tensor& g : gradient(scatter_reduce(x, 0, index, v, reduce, self).sum(), {x, v}))
      for (double d : numbers(g)) both.push_back(d);
    return both;
  };
  // One zero, two zeros, none; a base of zero.
  CHECK(slopes({2, 3, 0}, {0, 5, 0, 0, 4}, ScatterReduce::Prod) == list({0, 0, 4, 10, 0, 0, 0, 0}));
  CHECK(slopes({2, 3, 5}, {4, 5, 6, 7, 4}, ScatterReduce::Prod) == list({20, 42, 4, 10, 8, 21, 18, 5}));
  CHECK(slopes({2, 3, 5}, {4, 5, 6, 7, 4}, ScatterReduce::Prod, false) == list({0, 0, 0, 5, 4, 7, 6, 1}));
  // The element itself, one update, two updates and the element, no update.
  CHECK(slopes({9, 1, 4}, {1, 2, 1, 1, 4}, ScatterReduce::Amax) ==
        std::vector<double>{1, 1.0 / 3, 0.5, 0, 0, 1.0 / 3, 1.0 / 3, 0.5});
  CHECK(slopes({9, 1, 4}, {1, 2, 1, 1, 4}, ScatterReduce::Amin, false) == list({0, 0, 0, 1, 0, 0.5, 0.5, 1}));
}

TEST_CASE("scatter_reduce of integers, bools and NaN", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const double nan = std::nan("");
  const Tensor index = from({0, 0, 1});
  auto of = [&](const Tensor& x, const Tensor& v, ScatterReduce reduce, bool self = true) {
    return numbers(scatter_reduce(x, 0, index, v, reduce, self));
  };
  const Tensor x = from({-7, 2, 9}), v = from({2, 2, -5});
  CHECK(of(x, v, ScatterReduce::Mean) == list({-1, -2, 9}));  // rounded down
  CHECK(of(x, v, ScatterReduce::Mean, false) == list({2, -5, 9}));
  CHECK(of(x, v, ScatterReduce::Amax, false) == list({2, -5, 9}));
  CHECK(of(x.to(int8), v.to(int8), ScatterReduce::Prod) == list({-28, -10, 9}));
  CHECK(of(from({1, 2, 3}).to(uint64), from({5, 6, 7}).to(uint64), ScatterReduce::Mean) == list({4, 4, 3}));
  CHECK(of(from({true, false, true}), from({true, false, true}), ScatterReduce::Prod) == list({0, 0, 1}));
  CHECK(of(from({true, false, true}), from({true, false, true}), ScatterReduce::Amax) == list({1, 1, 1}));
  CHECK(same(of(from({1.0, nan, 3.0}), from({2.0, nan, 1.0}), ScatterReduce::Amax), {nan, nan, 3}));
  CHECK(same(of(from({1.0, nan, 3.0}), from({2.0, nan, 1.0}), ScatterReduce::Amin, false), {nan, 1, 3}));
}

TEST_CASE("an index smaller than the base leaves the rest", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12, float32).reshape({3, 4});
  CHECK(numbers(scatter(x, 0, from({{2, 0}}), -1)) == list({0, -1, 2, 3, 4, 5, 6, 7, -1, 9, 10, 11}));
  CHECK(numbers(scatter_add(x.transpose(), 1, from({{2}, {0}}), from({{100.0}, {200.0}}))) ==
        list({0, 4, 108, 201, 5, 9, 2, 6, 10, 3, 7, 11}));
  CHECK(numbers(put_along_axis(x.flip(1), from({{1}}), from({7.0, 8.0, 9.0}).reshape({3, 1}), 1)) ==
        list({3, 7, 1, 0, 7, 8, 5, 4, 11, 9, 9, 8}));
}

TEST_CASE("assignment by index tensors and masks", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor start = arange(24, float32).reshape({2, 3, 4});
  const Tensor i = from({1, 0}), j = from({{0, 2}, {1, -1}});
  // What is read after it was written, and what was not written.
  auto check = [&](std::vector<Index> items) {
    Tensor x = start.clone();
    const Tensor part = x.index(items), value = (arange(part.numel(), float32) + 100).reshape(part.shape());
    x.at(items) = value;
    CHECK(numbers(x.index(items)) == numbers(value));
    CHECK(numbers((x == start).to(int64).sum()) == list({24.0 - static_cast<double>(part.numel())}));
    x.at(items) = 5;
    CHECK(numbers(x.index(items)) == std::vector<double>(static_cast<size_t>(part.numel()), 5));
  };
  check({i});
  check({0, i});
  check({Slice{}, i, Slice{1, 3}});
  check({Slice{}, Slice{0, 3, 2}, i});
  check({i, Slice{}, i});
  check({ellipsis, from({3, 0, 1})});
  check({Slice{}, newaxis, i});
  check({0, Slice{{}, {}, -1}, i});
  check({start > 7});
  check({from({true, false})});
  check({Slice{}, from({true, false, true})});
  check({Slice{}, from({true, false, true}), from({1, 2})});
  check({1, ellipsis, from({true, false, true, true})});
  check({from({false, false})});
  Tensor x = start.clone();
  x.at({0, j}) = from({1.0, 2.0, 3.0, 4.0});  // broadcast, with 2 twice: -1 is 2
  CHECK(numbers(x[0]) == list({1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
  x.at({start > 20}) += 1;
  CHECK(numbers(x[1][2]) == list({20, 22, 23, 24}));
  x.at({start > 20}) -= from({1.0, 1.0, 1.0});  // a value for each: read as nonzero reads
  CHECK(numbers(x[1][2]) == list({20, 21, 22, 23}));
  x.at({ellipsis, from({true, false, false, true})}) *= from({{2.0}, {3.0}, {4.0}});
  CHECK(numbers(x[1]) == list({24, 13, 14, 30, 48, 17, 18, 57, 80, 21, 22, 92}));
  Tensor bytes = zeros({4}, uint8);
  bytes.at({from({0, 0, 3})}) += 1;  // read, then written: once
  CHECK(numbers(bytes) == list({1, 0, 0, 1}));
  CHECK(numbers(index_put(bytes, {from({0, 0, 3})}, 1, true)) == list({3, 0, 0, 2}));
  CHECK(numbers(bytes) == list({1, 0, 0, 1}));
  CHECK_THROWS_WITH(x.at({start > 7}) = from({1.0, 2.0}).reshape({2}), Contains("[2]") && Contains("[16]"));
}

TEST_CASE("masks of every shape, and none", "[tensor]") {
  const Tensor x = arange(6, float32).reshape({2, 3});
  CHECK(nonzero(zeros({2, 3})).shape() == Shape{0, 2});
  CHECK(nonzero(Tensor(true)).shape() == Shape{1, 0});
  CHECK(nonzero(zeros({0, 3})).shape() == Shape{0, 2});
  CHECK(numbers(nonzero(from({0.5, 0.0, std::nan("")}))) == list({0, 2}));
  CHECK(numbers(x.index({Tensor(true)})) == numbers(x));
  CHECK(x.index({Tensor(true)}).shape() == Shape{1, 2, 3});
  CHECK(x.index({Tensor(false)}).shape() == Shape{0, 2, 3});
  CHECK(numbers(x[x > 2]) == list({3, 4, 5}));
  CHECK(numbers(x.transpose()[x.transpose() > 2]) == list({3, 4, 5}));
  CHECK(numbers(masked_select(x, from({{true}, {false}}))) == list({0, 1, 2}));
  CHECK(numbers(masked_scatter(x, x < 0, zeros({0}))) == numbers(x));
  CHECK_THROWS_WITH(masked_scatter(x, x > 2, from({1.0, 2.0})).to_vector<float>(), Contains("masked_scatter"));
}

TEST_CASE("an index out of range of an assignment throws at the first host read", "[tensor]") {
  Tensor x = zeros({3, 2});
  x.at({from({0, 3})}) = 1.0;
  CHECK_THROWS_WITH(x.to_vector<float>(), Contains("index 3") && Contains("at at"));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 1, 0, 0, 0, 0});
  CHECK_THROWS_WITH(index_put(zeros({3, 2}), {from({0}), from({-3})}, 1.0).to_vector<float>(), Contains("index_put"));
}

TEST_CASE("index assignment under jit; sizes that depend on the data are refused there", "[tensor][jit]") {
  const Tensor numbers_for_twos = from({70.0, 80.0, 90.0});
  auto step = jit([=](const Tensor& x, const Tensor& at, const Tensor& v) {
    Tensor y = x.clone();
    y.at({at}) = v;
    y.at({y > 50}) = -2;
    y.at({y < 0}) += 1;
    return masked_scatter(scatter_reduce(y, 0, at, v * 2, ScatterReduce::Amax), y == 2, numbers_for_twos);
  });
  for (int n = 0; n < 4; ++n) {
    const Tensor x = (arange(5, float32) + n).realize(), at = from({n, 4}), v = from({60.0 + n, 20.0});
    std::vector<float> want(5);
    for (int k = 0; k < 5; ++k) want[k] = static_cast<float>(k + n);
    want[n] = 60.0f + n;
    want[4] = 20;
    for (float& w : want)
      if (w > 50) w = -1;
    std::vector<float> y = want;
    want[n] = std::max(want[n], 2 * (60.0f + n));
    want[4] = std::max(want[4], 40.0f);
    float next = 70;
    for (int k = 0; k < 5; ++k)
      if (y[k] == 2) want[k] = next, next += 10;
    CHECK(step(x, at, v).to_vector<float>() == want);
  }
  const Tensor x = from({1.0, 0.0, 2.0});
  auto refused = [&](const char* call, const char* instead, auto f) {
    auto jitted = jit(f);
    CHECK_THROWS_WITH(jitted(x), Contains(call) && Contains(instead));
  };
  refused("nonzero", "where(mask", [](const Tensor& t) { return nonzero(t).to(float32); });
  refused("masked_select", "where(mask", [](const Tensor& t) { return masked_select(t, t > 0); });
  refused("an index with a mask", "masked_scatter", [](const Tensor& t) { return t.index({t > 0}); });
  refused("an index with a mask", "masked_scatter", [](const Tensor& t) {
    Tensor y = t.clone();
    y.at({t > 0}) = t.slice(0, {0, 2});
    return y;
  });
}
