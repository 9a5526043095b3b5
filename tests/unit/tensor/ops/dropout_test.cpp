// What draws in activations and dropout: which elements share a draw, what becomes of the others, and the
// distributions.
#include <numeric>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("dropout zeroes what bernoulli draws and scales the rest", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Generator g(11), again(11);
  const Tensor x = randn({40, 5}, {.generator = &g}), copy = randn({40, 5}, {.generator = &again});
  const Tensor mask = bernoulli(0.25, {40, 5}, {.generator = &again});
  CHECK(same(numbers(dropout(x, 0.25, true, &g)), numbers(where(mask, 0.0, copy * (1 / 0.75)))));
  CHECK(same(numbers(dropout(x, 0.25, false, &g)), numbers(x)));
  CHECK(same(numbers(dropout(x, 0, true, &g)), numbers(x)));
  CHECK(same(numbers(dropout(ones({3}), 1, true, &g)), {0, 0, 0}));
  CHECK(dropout(ones({3}).to(int32), 0.5, false).dtype() == float32);
  CHECK(dropout(ones({3}).to(float16)).dtype() == float16);
  Tensor leaf = ones({200}).requires_grad();
  const Tensor y = dropout(leaf, 0.5, true, &g);
  CHECK(same(numbers(gradient(y.sum(), {leaf})[0]), numbers(y)));  // 0 or 2 of ones
}

TEST_CASE("dropout of channels draws once for each", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const auto constant_along = [](const Tensor& y, const Axes& axes) {
    return numbers((y.max(axes) == y.min(axes)).all())[0] == 1;
  };
  Generator g(2);
  const Tensor y = dropout2d(ones({8, 8, 3, 2}), 0.5, true, &g);
  CHECK(constant_along(y, {2, 3}));
  CHECK_FALSE(constant_along(y, {0, 1}));
  CHECK(constant_along(dropout1d(ones({64, 3}), 0.5, true, &g), {1}));
  CHECK(constant_along(dropout1d(ones({8, 8, 3}), 0.5, true, &g), {2}));
  CHECK(constant_along(dropout2d(ones({8, 8, 3}), 0.5, true, &g), {2}));
  const Tensor single = dropout3d(ones({8, 8, 3, 2}), 0.5, true, &g);
  CHECK(constant_along(single, {1, 2, 3}));
  CHECK(constant_along(dropout3d(ones({8, 8, 3, 2, 2}), 0.5, true, &g), {2, 3, 4}));
  CHECK(constant_along(feature_alpha_dropout(ones({8, 8, 3}), 0.5, true, &g), {2}));
}

TEST_CASE("alpha_dropout keeps mean 0 and variance 1", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Generator g(3), again(3);
  const Tensor x = randn({20000}, {.generator = &g}), copy = randn({20000}, {.generator = &again});
  const Tensor y = alpha_dropout(x, 0.3, true, &g);
  CHECK(std::abs(numbers(y.mean())[0]) < 0.03);
  CHECK(std::abs(numbers(y.var())[0] - 1) < 0.03);
  // PyTorch's formula: x * noise * a + (noise - 1) * alpha * a + alpha * a * p.
  const double alpha = 1.7580993408473766, a = 1 / std::sqrt((alpha * alpha * 0.3 + 1) * 0.7);
  const Tensor kept = 1.0 - bernoulli(0.3, {20000}, {.generator = &again}).to(float32);
  CHECK(close(numbers(y), numbers(copy * kept * a + (kept - 1.0) * (alpha * a) + alpha * a * 0.3)));
}

TEST_CASE("rrelu draws slopes in training", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Generator g(4);
  const std::vector<double> slopes = numbers(-rrelu(full({5000}, -1.0), 0.1, 0.3, true, &g));
  CHECK(*std::min_element(slopes.begin(), slopes.end()) >= 0.1f);
  CHECK(*std::max_element(slopes.begin(), slopes.end()) < 0.3);
  CHECK(std::abs(mean_of(slopes) - 0.2) < 0.005);
  CHECK(same(numbers(rrelu(ones({3}), 0.1, 0.3, true, &g)), {1, 1, 1}));
}

TEST_CASE("gumbel_softmax draws classes by their probability", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Generator g(6);
  const Tensor logits = log(from({0.1, 0.2, 0.7})).expand({8000, 3});
  const Tensor hard = gumbel_softmax(logits, 0.5, true, -1, &g);
  CHECK(close(numbers(hard.mean(0)), {0.1, 0.2, 0.7}, 0.02));
  CHECK(same(numbers(hard.sum(1)), std::vector<double>(8000, 1)));
  CHECK(numbers(isfinite(gumbel_softmax(logits.to(float16), 0.1, false, -1, &g)).all())[0] == 1);
  // hard: the value of the largest element, the gradient of the softmax.
  Tensor leaf = from({0.3, -0.2, 0.1}).requires_grad();
  g.manual_seed(7);
  const Tensor soft = gumbel_softmax(leaf, 2, false, 0, &g);
  g.manual_seed(7);
  const Tensor one = gumbel_softmax(leaf, 2, true, 0, &g), weight = from({1.0, 2.0, 4.0});
  CHECK(same(numbers(gradient((one * weight).sum(), {leaf})[0]), numbers(gradient((soft * weight).sum(), {leaf})[0])));
  CHECK(numbers(one.argmax()) == numbers(soft.argmax()));
}
