// Values of elementwise functions, at the places where they usually go wrong.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

/// What one double gives, in float64.
using Function = Tensor (*)(Arg);
double at(Function f, double x) { return numbers(f(from({x}, float64)))[0]; }

/// What the C library gives, but for the last three bits.
bool is(double got, double want) {
  return same(got, want) ||
         (std::signbit(got) == std::signbit(want) && std::abs(got - want) <= 0x1p-49 * std::abs(want));
}
}  // namespace

TEST_CASE("functions of one number", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (double x : {-3.0, -0.5, 0.0, 0.25, 1.0, 4.0}) {
    INFO(x);
    CHECK(is(at(sinter::exp, x), std::exp(x)));
    CHECK(is(at(sinter::exp2, x), std::exp2(x)));
    CHECK(is(at(sinter::expm1, x), std::expm1(x)));
    CHECK(is(at(sinter::log1p, x), std::log1p(x)));
    CHECK(is(at(sinter::log, x), std::log(x)));
    CHECK(same(at(sinter::sqrt, x), std::sqrt(x)));
    CHECK(same(at(sinter::rsqrt, x), 1 / std::sqrt(x)));
    CHECK(is(at(sinter::sin, x), std::sin(x)));
    CHECK(is(at(sinter::cos, x), std::cos(x)));
    CHECK(is(at(sinter::tan, x), std::tan(x)));
    CHECK(is(at(sinter::tanh, x), std::tanh(x)));
    CHECK(is(at(sinter::erf, x), std::erf(x)));
    CHECK(at(sinter::square, x) == x * x);
    CHECK(same(at(sinter::reciprocal, x), 1 / x));
    CHECK(is(at(sinter::sigmoid, x), 1 / (1 + std::exp(-x))));
    CHECK(is(at(sinter::silu, x), x / (1 + std::exp(-x))));
    CHECK(at([](Arg a) { return gelu(a); }, x) == Approx(x * 0.5 * (1 + std::erf(x / std::sqrt(2)))).margin(1e-15));
    CHECK(at([](Arg a) { return gelu(a, Gelu::Tanh); }, x) ==
          Approx(x * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))).margin(1e-15));
  }
  CHECK(at(sinter::sigmoid, -800) == 0);
  CHECK(at(sinter::sigmoid, -700) > 0);  // 1 - sigmoid(700) would be 0
  CHECK(at(sinter::sigmoid, 800) == 1);
  CHECK(at(sinter::sigmoid, kInf) == 1);
  CHECK(at(sinter::sigmoid, -kInf) == 0);
  CHECK(std::isnan(at(sinter::sigmoid, kNan)));
  for (double x : {1e-12, -1e-12, 1e-300, -0.0, -1.0, -kInf, kInf}) {
    INFO(x);
    CHECK(is(at(sinter::log1p, x), std::log1p(x)));
    CHECK(is(at(sinter::expm1, x), std::expm1(x)));
  }
}

TEST_CASE("signs, zeros and NaN", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({-2.5, -0.0, 0.0, 0.5, 1.5, 2.5, kNan, kInf, -kInf}, float64);
  CHECK(same(numbers(relu(x)), {0, 0, 0, 0.5, 1.5, 2.5, kNan, kInf, 0}));
  CHECK(same(numbers(sign(x)), {-1, 0, 0, 1, 1, 1, kNan, 1, -1}));
  CHECK(same(numbers(abs(x)), {2.5, 0, 0, 0.5, 1.5, 2.5, kNan, kInf, kInf}));
  CHECK(same(numbers(floor(x)), {-3, -0.0, 0, 0, 1, 2, kNan, kInf, -kInf}));
  CHECK(same(numbers(ceil(x)), {-2, -0.0, 0, 1, 2, 3, kNan, kInf, -kInf}));
  CHECK(same(numbers(round(x)), {-2, -0.0, 0, 0, 2, 2, kNan, kInf, -kInf}));
  CHECK(same(numbers(trunc(x)), {-2, -0.0, 0, 0, 1, 2, kNan, kInf, -kInf}));
  CHECK(same(numbers(-x), {2.5, 0, -0.0, -0.5, -1.5, -2.5, kNan, -kInf, kInf}));
  CHECK(same(numbers(clamp(x, -1, 2)), {-1, -0.0, 0, 0.5, 1.5, 2, kNan, 2, -1}));
  CHECK(same(numbers(maximum(x, 0.25)), {0.25, 0.25, 0.25, 0.5, 1.5, 2.5, kNan, kInf, 0.25}));
  CHECK(same(numbers(minimum(x, 0.25)), {-2.5, -0.0, 0, 0.25, 0.25, 0.25, kNan, 0.25, -kInf}));
  CHECK(numbers(isnan(x)) == list({0, 0, 0, 0, 0, 0, 1, 0, 0}));
  CHECK(numbers(isinf(x)) == list({0, 0, 0, 0, 0, 0, 0, 1, 1}));
  CHECK(numbers(isfinite(x)) == list({1, 1, 1, 1, 1, 1, 0, 0, 0}));
  CHECK(same(numbers(where(x > 0, x, -1)), {-1, -1, -1, 0.5, 1.5, 2.5, -1, kInf, -1}));
  CHECK(numbers(clamp(from({1.0, 5.0}), 4, 2)) == list({2, 2}));
}

TEST_CASE("arithmetic of integers is NumPy's", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor a = from({7, -7, 7, -7, 5, 0}), b = from({2, 2, -2, -2, 0, 3});
  CHECK(numbers(a / b) == list({3.5, -3.5, -3.5, 3.5, kInf, 0}));
  CHECK((a / b).dtype() == float32);
  CHECK(numbers(floor_divide(a, b)) == list({3, -4, -4, 3, 0, 0}));
  CHECK(numbers(a % b) == list({1, 1, -1, -1, 0, 0}));
  CHECK(numbers(remainder(a, b)) == numbers(a % b));
  CHECK(numbers(pow(a, 3)) == list({343, -343, 343, -343, 125, 0}));
  CHECK(numbers(pow(a, 0)) == list({1, 1, 1, 1, 1, 1}));
  CHECK(numbers(from({200, 100}, uint8) + from({100, 100}, uint8)) == list({44, 200}));
  CHECK(numbers(from({6, 5}) & 3) == list({2, 1}));
  CHECK(numbers(from({6, 5}) | 1) == list({7, 5}));
  CHECK(numbers(from({6, 5}) ^ from({3, 3})) == list({5, 6}));
  CHECK(numbers(~from({0, 5})) == list({-1, -6}));
  CHECK(numbers(from({1, -8}) << 2) == list({4, -32}));
  CHECK(numbers(from({9, -8}) >> 1) == list({4, -4}));
  CHECK(numbers(abs(from({-3, 4}))) == list({3, 4}));
  CHECK(numbers(sign(from({-3, 0, 4}))) == list({-1, 0, 1}));
  CHECK(numbers(sign(from({0, 4}, uint8))) == list({0, 1}));
  CHECK(numbers(relu(from({-3, 4}))) == list({0, 4}));
  CHECK(numbers(ceil(from({3, 4}))) == list({3, 4}));
}

TEST_CASE("division of floats rounds down", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor a = from({7.5, -7.5, 7.5, -7.5, 0.3, 1.0, -1.0}, float64),
         b = from({2.0, 2.0, -2.0, -2.0, 0.1, 0.0, 0.0}, float64);
  CHECK(same(numbers(floor_divide(a, b)), {3, -4, -4, 3, 2, kInf, -kInf}));  // 0.3 is less than 3 times 0.1
  CHECK(close(numbers((a % b).slice(0, {0, 5})), {1.5, 0.5, -0.5, -1.5, 0.1}, 1e-12));
  CHECK(numbers(pow(from({2.0, 3.0, -2.0}), 2)) == list({4, 9, 4}));
  CHECK(close(numbers(pow(from({2.0, 3.0}), 0.5)), {std::sqrt(2), std::sqrt(3)}));
  CHECK(close(numbers(pow(2, from({2.0, 3.0}))), {4, 8}));
}

TEST_CASE("floor_divide of floats is NumPy's", "[tensor]") {
  ON_BOTH_EXECUTORS();
  struct Case {
    double x, y, quotient;
  };
  const Case cases[] = {{-1, kInf, -1},      {1, kInf, 0},    {1, -kInf, -1},      {-1, -kInf, 0}, {kInf, 5, kNan},
                        {-kInf, kInf, kNan}, {kNan, 1, kNan}, {1, kNan, kNan},     {7, 2, 3},      {-7, 2, -4},
                        {7, -2, -4},         {-7, -2, 3},     {6, 3, 2},           {-6, 3, -2},    {0, 5, 0},
                        {-0.0, 5, -0.0},     {0, -5, -0.0},   {-0.0, -5, 0},       {1, 0, kInf},   {-1, 0, -kInf},
                        {1, -0.0, -kInf},    {0, 0, kNan},    {-1e-20, 1, -1},     {1e-20, 1, 0},  {0.5, 3, 0},
                        {-0.5, 3, -1},       {1, 0.1, 9},     {1e300, 1e-8, 1e308}};
  std::vector<double> x, y, want;
  for (const Case& c : cases) x.push_back(c.x), y.push_back(c.y), want.push_back(c.quotient);
  const Tensor got = floor_divide(from(x), from(y));
  for (size_t i = 0; i < want.size(); ++i) {
    INFO(x[i] << " // " << y[i]);
    for (double q : {numbers(got)[i], got.to_vector<double>()[i]})
      CHECK((same(q, want[i]) || (want[i] == 1e308 && q == Approx(want[i]))));
  }
}

TEST_CASE("comparisons and logic", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor a = from({1.0, 2.0, 3.0, kNan}), b = from({2.0, 2.0, 2.0, 2.0});
  CHECK(numbers(a < b) == list({1, 0, 0, 0}));
  CHECK(numbers(a <= b) == list({1, 1, 0, 0}));
  CHECK(numbers(a > b) == list({0, 0, 1, 0}));
  CHECK(numbers(a >= b) == list({0, 1, 1, 0}));
  CHECK(numbers(a == b) == list({0, 1, 0, 0}));
  CHECK(numbers(a != b) == list({1, 0, 1, 1}));
  CHECK(numbers(2 < a) == list({0, 0, 1, 0}));
  Tensor p = from({true, true, false, false}), q = from({true, false, true, false});
  CHECK(numbers(p & q) == list({1, 0, 0, 0}));
  CHECK(numbers(p | q) == list({1, 1, 1, 0}));
  CHECK(numbers(p ^ q) == list({0, 1, 1, 0}));
  CHECK(numbers(~p) == list({0, 0, 1, 1}));
  CHECK(numbers(p + q) == numbers(p | q));
  CHECK(numbers(p * q) == numbers(p & q));
  CHECK(numbers(logical_and(from({2, 0, 3}), from({1.0, 1.0, 0.0}))) == list({1, 0, 0}));
  CHECK(numbers(logical_or(from({2, 0, 0}), from({0.0, 0.5, 0.0}))) == list({1, 1, 0}));
  CHECK(numbers(logical_xor(from({2, 0}), from({1, 1}))) == list({0, 1}));
  CHECK(numbers(logical_not(from({2, 0}))) == list({0, 1}));
}

TEST_CASE("indices compare with numbers that no index reaches", "[tensor]") {
  ON_BOTH_EXECUTORS();
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  const Tensor i = arange(3);
  for (const int64_t far : {least, least + 1, least + 3}) {
    CHECK(numbers(i < far) == list({0, 0, 0}));
    CHECK(numbers(i <= far) == list({0, 0, 0}));
    CHECK(numbers(i >= far) == list({1, 1, 1}));
    CHECK(numbers(i == far) == list({0, 0, 0}));
    CHECK(numbers(clamp(i, far, 1)) == list({0, 1, 1}));
  }
  for (const int64_t far : {most, most - 1}) {
    CHECK(numbers(i < far) == list({1, 1, 1}));
    CHECK(numbers(i >= far) == list({0, 0, 0}));
    CHECK(numbers(i != far) == list({1, 1, 1}));
  }
  CHECK(numbers(floor_divide(i, least)) == list({0, -1, -1}));
}

TEST_CASE("casts", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({-1.7, 0.0, 300.5, kNan, kInf});
  CHECK(numbers(x.to(int32)) == list({-1, 0, 300, 0, 2147483647}));
  CHECK(numbers(x.to(uint8)) == list({0, 0, 255, 0, 255}));
  CHECK(numbers(x.to(boolean)) == list({1, 0, 1, 1, 1}));
  CHECK(numbers(from({300, -1}).to(uint8)) == list({44, 255}));
  // Only copies of a handle share a cell, also where a call changes nothing.
  for (const Tensor& same : {x.to(float32), x.to(x.device()), x.flatten(), x.reshape({5}), x.squeeze(), x.expand({5}),
                             x.slice(0, {}), cat({x}), x.permute({0}), x.index({ellipsis})}) {
    CHECK(same.cell() != x.cell());
    CHECK(same.cell()->node.get() == x.cell()->node.get());
  }
  CHECK(numbers(x.slice(0, {0, 2}).contiguous()) == list({-1.7f, 0}));
}
