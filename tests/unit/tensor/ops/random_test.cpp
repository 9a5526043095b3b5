// Random numbers: the generator's published numbers, what calls take of it, and the shape of the distributions.
#include "ir/scalar_eval.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Moments {
  double mean = 0, variance = 0, lowest = 0, highest = 0;
};
Moments moments(const std::vector<double>& x) {
  Moments m;
  m.lowest = m.highest = x[0];
  for (double v : x) {
    m.mean += v / static_cast<double>(x.size());
    m.lowest = std::min(m.lowest, v);
    m.highest = std::max(m.highest, v);
  }
  for (double v : x) m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(x.size());
  return m;
}

}  // namespace

TEST_CASE("the generator gives the published numbers", "[tensor]") {
  ON_BOTH_EXECUTORS();
  // Threefry-2x32-20, known answers of Random123 1.14.
  CHECK(ir::threefry(0, 0) == 0x99ba4efe6b200159u);
  CHECK(ir::threefry(~uint64_t{0}, ~uint64_t{0}) == 0xbb002be71cb996fcu);
  CHECK(ir::threefry(0x85a308d3243f6a88u, 0x0370734413198a2eu) == 0x483df7a0c4923a9cu);
  // rand takes the top 24 bits of the word of its counter under the seed as key.
  Generator g(0x123456789abcdefu);
  std::vector<double> x = numbers(rand({2, 2}, {.generator = &g})),
                      y = numbers(rand({1}, {.dtype = float64, .generator = &g}));
  for (uint64_t i = 0; i < 4; ++i)
    CHECK(x[i] == static_cast<double>(ir::threefry(i, 0x123456789abcdefu) >> 40) * 0x1p-24);
  CHECK(y[0] == static_cast<double>(ir::threefry(4, 0x123456789abcdefu) >> 11) * 0x1p-53);
}

TEST_CASE("a call takes its numbers once; seeds repeat them", "[tensor]") {
  ON_BOTH_EXECUTORS();
  manual_seed(5);
  Tensor a = rand({100}), b = rand({100});
  std::vector<double> first = numbers(a), second = numbers(b);
  CHECK(numbers(a) == first);
  CHECK(first != second);
  manual_seed(5);
  CHECK(numbers(rand({100})) == first);
  CHECK(numbers(rand({100})) == second);
  manual_seed(6);
  CHECK(numbers(rand({100})) != first);
  Generator one(5), two(5);
  CHECK(numbers(randn({7}, {.generator = &one})) == numbers(randn({7}, {.generator = &two})));
  CHECK(one.take(0).second == 7);
  // The shape does not matter, nor does a symbolic size.
  Generator three(9), four(9), five(9);
  Var batch("batch", 1, 8);
  std::vector<double> flat = numbers(rand({12}, {.generator = &three}));
  CHECK(numbers(rand({3, 4}, {.generator = &four})) == flat);
  CHECK(numbers(rand({batch(3), 4}, {.generator = &five})) == flat);
}

TEST_CASE("integers below one bound begin at 0", "[tensor]") {
  Generator one(3), two(3);
  CHECK(numbers(randint(10, {8}, {.generator = &one})) == numbers(randint(0, 10, {8}, {.generator = &two})));
  const Tensor like = zeros({5}, int32);
  const Tensor drawn = randint_like(like, 3, {.generator = &one});
  CHECK(numbers(drawn) == numbers(randint_like(like, 0, 3, {.generator = &two})));
  CHECK(drawn.dtype() == int32);
  CHECK(randint(0, 10, {}, {.generator = &one}).rank() == 0);
  CHECK_THROWS_AS(randint(0, {3}), UsageError);
}

TEST_CASE("moments", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Generator g(1);
  for (DType t : {float32, float64}) {
    Moments u = moments(numbers(rand({20000}, {.dtype = t, .generator = &g})));
    CHECK(u.mean == Approx(0.5).margin(0.01));
    CHECK(u.variance == Approx(1.0 / 12).margin(0.003));
    CHECK(u.lowest >= 0);
    CHECK(u.highest < 1);
    Moments n = moments(numbers(randn({20000}, {.dtype = t, .generator = &g})));
    CHECK(n.mean == Approx(0).margin(0.03));
    CHECK(n.variance == Approx(1).margin(0.04));
    CHECK(n.highest > 3.2);
    CHECK(n.lowest < -3.2);
  }
  std::vector<double> dice = numbers(randint(-1, 5, {12000}, {.generator = &g}));
  std::vector<int> count(6);
  for (double d : dice) {
    REQUIRE((d >= -1 && d < 5));
    ++count[static_cast<size_t>(d + 1)];
  }
  for (int c : count) CHECK(std::abs(c - 2000) < 200);
  CHECK(randint(0, 10, {2}).dtype() == int64);
  CHECK(randint(0, 10, {2}, {.dtype = uint8}).dtype() == uint8);
  Tensor mask = bernoulli(0.25, {20000}, {.generator = &g});
  CHECK(mask.dtype() == boolean);
  CHECK(moments(numbers(mask)).mean == Approx(0.25).margin(0.015));
  CHECK(numbers(bernoulli(0, {5}).sum()) == list({0}));
  CHECK(numbers(bernoulli(1, {5}).sum()) == list({5}));
}

TEST_CASE("keys and counters are launch arguments: two calls are one program", "[tensor]") {
  const auto first = numbers(rand({4}));
  const uint64_t misses = debug::counters().plan_misses;
  CHECK(numbers(rand({4})) != first);
  CHECK(debug::counters().plan_misses == misses);
}
