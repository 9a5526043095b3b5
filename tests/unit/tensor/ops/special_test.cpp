// Functions of floats where they usually go wrong: at the edges of their domains, near overflow, where two are equal.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

using Function = Tensor (*)(const Tensor&);
struct Slope {
  const char* name;
  Function f;
  double at, want;
};

}  // namespace

TEST_CASE("slopes at edges and kinks are PyTorch's", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Slope slopes[] = {
      {"asin", [](const Tensor& x) { return asin(x); }, 1, kInf},
      {"asin", [](const Tensor& x) { return asin(x); }, -1, kInf},
      {"asin", [](const Tensor& x) { return asin(x); }, 2, kNan},
      {"acos", [](const Tensor& x) { return acos(x); }, 1, -kInf},
      {"acos", [](const Tensor& x) { return acos(x); }, -1, -kInf},
      {"acos", [](const Tensor& x) { return acos(x); }, 0, -1},
      {"atan", [](const Tensor& x) { return atan(x); }, kInf, 0},
      {"acosh", [](const Tensor& x) { return acosh(x); }, 1, kInf},
      {"atanh", [](const Tensor& x) { return atanh(x); }, -1, kInf},
      {"erfinv", [](const Tensor& x) { return erfinv(x); }, 1, kInf},
      {"cosh", [](const Tensor& x) { return cosh(x); }, 0, 0},
      {"logit", [](const Tensor& x) { return logit(x); }, 0, kInf},
      {"logit", [](const Tensor& x) { return logit(x); }, 1, kInf},
      {"logit", [](const Tensor& x) { return logit(x); }, 0.5, 4},
      {"logit", [](const Tensor& x) { return logit(x, 0.25); }, 0.25, 1 / (0.25 * 0.75)},
      {"logit", [](const Tensor& x) { return logit(x, 0.25); }, 0.2, 0},
      {"sinc", [](const Tensor& x) { return sinc(x); }, 0, 0},
      {"copysign", [](const Tensor& x) { return copysign(x, -1); }, 0, 0},
      {"copysign", [](const Tensor& x) { return copysign(x, -1); }, 2, -1},
      {"copysign", [](const Tensor& x) { return copysign(x, -1); }, -2, 1},
      {"fmod", [](const Tensor& x) { return fmod(x, 3); }, 0, 1},
      {"fmod", [](const Tensor& x) { return fmod(x, 3); }, -4, 1},
      {"fmod", [](const Tensor& x) { return fmod(-7.5, x); }, 2, 3},
      {"clamp_min", [](const Tensor& x) { return clamp_min(x, 2); }, 2, 1},
      {"clamp_max", [](const Tensor& x) { return clamp_max(x, 2); }, 3, 0},
      {"nan_to_num", [](const Tensor& x) { return nan_to_num(x); }, kNan, 0},
      {"nan_to_num", [](const Tensor& x) { return nan_to_num(x); }, 1, 1},
      {"xlogy", [](const Tensor& x) { return xlogy(x, 2); }, 0, std::log(2)},
      {"xlogy", [](const Tensor& x) { return xlogy(x, 0); }, 0, 0},
      {"logaddexp", [](const Tensor& x) { return logaddexp(x, 3); }, 3, 0.5},
      {"logaddexp", [](const Tensor& x) { return logaddexp(x, 3); }, 900, 1},
      {"logaddexp", [](const Tensor& x) { return logaddexp(3, x); }, -kInf, 0},
      {"logaddexp2", [](const Tensor& x) { return logaddexp2(x, 3); }, 3, 0.5},
      {"hypot", [](const Tensor& x) { return hypot(x, 4e300); }, 3e300, 0.6},
      {"hypot", [](const Tensor& x) { return hypot(x, 4e-300); }, 3e-300, 0.6},
      {"hypot", [](const Tensor& x) { return hypot(x, 0); }, -2, -1},
      {"lerp", [](const Tensor& x) { return lerp(x, 5, 0.75); }, 1, 0.25},
      {"frac", [](const Tensor& x) { return frac(x); }, -2, 1},
  };
  for (const Slope& s : slopes) {
    INFO(s.name << " at " << s.at);
    const Tensor x = from({s.at}, float64).requires_grad();
    CHECK(close(numbers(gradient(s.f(x).sum(), {x})[0]), {s.want}, 1e-12));
  }
}

TEST_CASE("the second derivatives where two are equal", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({2.0}, float64).requires_grad();
  const Tensor first = gradient(logaddexp(x, 2.0).sum(), {x})[0];
  CHECK(close(numbers(gradient(first.sum(), {x})[0]), {0.25}, 1e-12));
}

TEST_CASE("large and small numbers on the way", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const auto at = [](Function f, double x, DType dtype) { return numbers(f(from({x}, dtype)))[0]; };
  CHECK(at([](const Tensor& x) { return hypot(x, x); }, 1e38, float32) == Approx(std::sqrt(2) * 1e38).epsilon(1e-6));
  CHECK(at([](const Tensor& x) { return hypot(x, x); }, 1e-40, float32) == Approx(std::sqrt(2) * 1e-40).epsilon(1e-4));
  CHECK(at([](const Tensor& x) { return hypot(x, 0); }, 5e-324, float64) == 5e-324);
  CHECK(at([](const Tensor& x) { return sinh(x); }, 89, float32) == Approx(std::sinh(89.0)).epsilon(1e-6));
  CHECK(at([](const Tensor& x) { return asinh(x); }, 1e300, float64) == Approx(std::asinh(1e300)).epsilon(1e-15));
  CHECK(at([](const Tensor& x) { return erfc(x); }, 27, float64) == Approx(std::erfc(27.0)).epsilon(1e-15));
  CHECK(at([](const Tensor& x) { return logit(x); }, 0.5 + 1e-9, float64) == Approx(4e-9).epsilon(1e-7));
  CHECK(at([](const Tensor& x) { return logaddexp(x, x); }, 1e4, float16) == 1e4);
  CHECK(same(numbers(nan_to_num(from({kNan, kInf, -kInf}, float16))), {0, 65504, -65504}));
  CHECK(same(numbers(fmod(from({-6.0, -0.0, 7.5, 5.0}, float64), from({3.0, 3.0, -2.0, kInf}, float64))),
             {-0.0, -0.0, 1.5, 5}));
  CHECK(same(numbers(copysign(from({1.0, kNan, kInf}), from({-0.0, 1.0, -kNan}))), {-1, kNan, -kInf}));
}

TEST_CASE("whole powers of integers", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor base = from({3, -3, 1, -1, 0, 2, -1}), exponent = from({4, 3, -5, -5, -1, -2, -4});
  CHECK(numbers(pow(base, exponent)) == list({81, -27, 1, -1, 0, 0, 1}));
  CHECK(numbers(pow(2, from({0, 5, 62}))) == list({1, 32, 0x1p62}));
  CHECK(numbers(pow(from({3}, uint8), from({5}, uint8))) == list({243}));
  CHECK(numbers(pow(from({3}, uint8), from({6}, uint8))) == list({729 % 256}));
  CHECK(numbers(fmod(from({-7, 7, -7, 5}), from({3, -3, -3, 0}))) == list({-1, 1, -1, 0}));
  CHECK(numbers(div(from({-7, 7, -6, 5}), from({3, -3, 3, 0}), RoundingMode::Trunc)) == list({-2, -2, -2, 0}));
}
