// Distributions: moments and quantiles of many numbers, parameters as tensors, gradients, wrong parameters.
#include <algorithm>

#include "sinter/distributions.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr int64_t kCount = 20000;

struct Spread {
  double mean = 0, variance = 0, median = 0;
};
Spread spread_of(const Tensor& t) {
  std::vector<double> x = numbers(t);
  Spread s;
  for (double v : x) s.mean += v / static_cast<double>(x.size());
  for (double v : x) s.variance += (v - s.mean) * (v - s.mean) / static_cast<double>(x.size());
  std::nth_element(x.begin(), x.begin() + static_cast<long>(x.size() / 2), x.end());
  s.median = x[x.size() / 2];
  return s;
}

/// Of 20,000 numbers, against the distribution's; heavy tails have no mean.
void check(const Tensor& drawn, std::optional<double> mean, std::optional<double> variance, double median) {
  REQUIRE(drawn.shape() == Shape{kCount});
  const Spread s = spread_of(drawn);
  const double deviation = variance ? std::sqrt(*variance) : 1;
  if (mean) CHECK(std::abs(s.mean - *mean) < 0.04 * deviation);
  if (variance) CHECK(std::abs(s.variance - *variance) < 0.1 * *variance);
  CHECK(std::abs(s.median - median) < 0.04 * deviation + 1e-9);
}

}  // namespace

TEST_CASE("distributions have their moments", "[tensor][random]") {
  const DType dtype = GENERATE(float32, float64);
  Generator g(3);
  const RandomOptions o{.dtype = dtype, .generator = &g};
  const Shape n{kCount};
  const double log2 = std::log(2.0);
  check(uniform(-1.0, 3.0, n, o), 1, 16.0 / 12, 1);
  check(normal(2.0, 3.0, n, o), 2, 9, 2);
  check(log_normal(0.5, 0.5, n, o), std::exp(0.625), (std::exp(0.25) - 1) * std::exp(1.25), std::exp(0.5));
  check(exponential(2.0, n, o), 0.5, 0.25, log2 / 2);
  check(gumbel(1.0, 2.0, n, o), 1 + 2 * 0.5772157, 4 * 1.6449341, 1 - 2 * std::log(log2));
  check(laplace(1.0, 2.0, n, o), 1, 8, 1);
  check(cauchy(1.0, 2.0, n, o), {}, {}, 1);
  check(geometric(0.25, n, o), 4, 12, 3);
  check(gamma(0.3, 2.0, n, o), 0.15, 0.075, 0.03657);
  check(gamma(4.0, 0.5, n, o), 8, 16, 7.3441);
  check(beta(2.0, 3.0, n, o), 0.4, 0.04, 0.3857);
  check(poisson(3.0, n, o), 3, 3, 3);
  check(poisson(9.9, n, o), 9.9, 9.9, 10);
  check(poisson(10.5, n, o), 10.5, 10.5, 10);
  check(poisson(1e6, n, o), 1e6, 1e6, 1e6);
  check(trunc_normal(0.0, 1.0, -1.0, 1.0, n, o), 0, 0.29112, 0);
  check(trunc_normal(5.0, 2.0, 5.0, 100.0, n, o), 5 + 2 * 0.797885, 4 * 0.363380, 5 + 2 * 0.674490);
  CHECK(uniform(0.0, 1.0, n, o).dtype() == dtype);
}

TEST_CASE("a truncated normal number lies between its bounds, far out too", "[tensor][random]") {
  Generator g(5);
  for (const auto& [low, high] : {std::pair{-0.5, 0.5}, {6.0, 7.0}, {-40.0, -39.0}}) {
    const std::vector<double> x = numbers(trunc_normal(0.0, 1.0, low, high, {1000}, {.generator = &g}));
    CHECK((*std::min_element(x.begin(), x.end()) >= low && *std::max_element(x.begin(), x.end()) <= high));
  }
}

TEST_CASE("a permutation has each number once, and known answers", "[tensor][random]") {
  Generator g(3);
  const RandomOptions o{.generator = &g};
  const std::vector<int64_t> x = randperm(1000, o).to_vector<int64_t>();
  std::vector<int64_t> sorted = x;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i) CHECK(sorted[static_cast<size_t>(i)] == i);
  CHECK(randperm(1000, o).to_vector<int64_t>() != x);
  CHECK(randperm(0, o).shape() == Shape{0});
  CHECK(randperm(3, {.dtype = float32, .generator = &g}).dtype() == float32);
  Generator again(3);
  CHECK(randperm(1000, {.generator = &again}).to_vector<int64_t>() == x);
  // Each number is first as often as another.
  std::vector<int> first(4);
  for (int i = 0; i < 400; ++i) ++first[static_cast<size_t>(randperm(4, o)[0].item<int64_t>())];
  for (int count : first) CHECK(std::abs(count - 100) < 40);
}

TEST_CASE("classes drawn without replacement come once, the likely ones first", "[tensor][random]") {
  Generator g(3);
  const RandomOptions o{.generator = &g};
  const Tensor p = from(std::vector<float>{0, 1, 2, 5}).expand({4000, 4});
  const std::vector<int64_t> all = multinomial(p, 3, false, o).to_vector<int64_t>();
  std::vector<double> first(4), second(4);
  for (size_t i = 0; i < all.size(); i += 3) {
    CHECK((all[i] ^ all[i + 1] ^ all[i + 2]) == 0);  // 1, 2 and 3: that of probability 0 is not drawn
    first[static_cast<size_t>(all[i])] += 1.0 / 4000;
    second[static_cast<size_t>(all[i + 1])] += 1.0 / 4000;
  }
  for (size_t k : {1u, 2u, 3u}) CHECK(std::abs(first[k] - std::vector<double>{0, 1, 2, 5}[k] / 8) < 0.03);
  CHECK(std::abs(second[3] - (1.0 / 8 * 5 / 7 + 2.0 / 8 * 5 / 6)) < 0.03);
  CHECK(multinomial(p, 9, true, o).shape() == Shape{4000, 9});
  CHECK(numbers(multinomial(from(std::vector<float>{0, 3, 0}), 5, true, o)) == std::vector<double>(5, 1));
}

TEST_CASE("weights that are no probabilities are reported at the first read", "[tensor][random]") {
  using Rows = std::vector<std::vector<double>>;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  struct Case {
    Rows weights;
    int64_t count;
    bool replacement;
    const char* text;
  };
  const Case cases[] = {
      {{{1, 2}, {nan, 1}}, 1, false, "row 1 of the weights: they hold a NaN or an infinity"},
      {{{1, infinity}}, 1, true, "the weights hold a NaN or an infinity"},
      {{{-1, 2}, {1, 1}}, 1, true, "row 0 of the weights: they hold a negative number; give numbers from 0 on"},
      {{{1, 2}, {1, 1}, {0, 0}}, 2, true, "row 2 of the weights: they are all 0; give one above 0"},
      {{{0, 0}}, 1, false, "the weights are all 0"},
      {{{0, 0}}, 2, false, "the weights are all 0"},
      {{{0, 3, 0, 1}}, 3, false, "the weights have 2 above 0, and more are drawn without replacement; draw fewer"},
  };
  ON_BOTH_EXECUTORS();
  for (const DType type : {float32, float64, float16})
    for (const Case& c : cases) {
      std::vector<double> flat;
      for (const auto& row : c.weights) flat.insert(flat.end(), row.begin(), row.end());
      const auto rows = static_cast<int64_t>(c.weights.size()), classes = static_cast<int64_t>(c.weights[0].size());
      const Tensor p = from(flat, {rows, classes}).to(type).realize();
      INFO(p << c.count);
      const Tensor drawn = multinomial(p, c.count, c.replacement);
      CHECK_THROWS_WITH(drawn.to_vector<int64_t>(), Catch::Contains(c.text) && Catch::Contains(", in multinomial at "));
      CHECK(drawn.to_vector<int64_t>().size() == static_cast<size_t>(rows * c.count));  // once said
      auto f = jit([&](const Tensor& t) { return multinomial(t, c.count, c.replacement); });
      const Tensor good = ones({rows, classes}, type).realize();
      for (int call = 0; call < 3; ++call) CHECK(f(good).to_vector<int64_t>().size() > 0);
      CHECK_THROWS_AS(f(p).to_vector<int64_t>(), UsageError);
    }
  CHECK_THROWS_WITH(multinomial(from({0.0, -1.0}), 1).to_vector<int64_t>(), Catch::Contains("the weights hold a nega"));
  CHECK(numbers(multinomial(from({0.0, 5.0, 0.0}), 1)) == std::vector<double>{1});
}

TEST_CASE("a multivariate normal draw has its mean and covariance", "[tensor][random]") {
  Generator g(9);
  const Tensor mean = from(std::vector<float>{1, -2}), covariance = from(std::vector<float>{4, 1, 1, 2}, {2, 2});
  const distributions::MultivariateNormal d(mean, covariance);
  const Tensor x = d.sample({kCount}, {.generator = &g}), off = x - mean;
  CHECK(close(numbers(x.mean({0})), numbers(mean), 0.05));
  CHECK(close(numbers(matmul(off.t(), off) / static_cast<double>(kCount)), numbers(covariance), 0.1));
  CHECK(close(numbers(d.covariance_matrix()), numbers(covariance), 1e-6));
  CHECK_THROWS_WITH(distributions::MultivariateNormal(ones({3}), eye(2)),
                    Catch::Matchers::Contains("[3]") && Catch::Matchers::Contains("[2, 2]"));
}

TEST_CASE("distributions have the moments of their draws, by PyTorch's names", "[tensor][random]") {
  Generator g(9);
  const auto check_moments = [&](const auto& d) {
    const Tensor x = d.sample({kCount}, {.generator = &g}).to(float64);
    CHECK(close(numbers(d.mean()), numbers(x.mean({0})), 0.05));
    CHECK(close(numbers(d.variance()), numbers(x.var({0})), 0.1));
    CHECK(close(numbers(d.stddev()), numbers(sqrt(d.variance())), 1e-6));
  };
  const distributions::Normal normal(from({1.0, -2.0}), from({0.5, 2.0}));
  check_moments(normal);
  CHECK(numbers(normal.loc()) == std::vector<double>{1, -2});
  CHECK(numbers(normal.scale()) == std::vector<double>{0.5, 2});
  check_moments(distributions::Uniform(from({-1.0, 0.0}), 2.0));
  check_moments(distributions::Bernoulli({.probs = from({0.25, 0.5, 1.0})}));
  check_moments(distributions::Bernoulli({.logits = from({0.0, 1.0})}));
  const Tensor l = from({{2.0, 0.0}, {0.5, 1.0}}), loc = from({1.0, -1.0});
  const distributions::MultivariateNormal vectors(loc, {.scale_tril = l});
  check_moments(vectors);
  CHECK(numbers(vectors.scale_tril()) == numbers(l));
  CHECK(close(numbers(vectors.variance()), numbers(diagonal(vectors.covariance_matrix())), 1e-6));
  CHECK(close(numbers(matmul(vectors.precision_matrix(), vectors.covariance_matrix())), numbers(eye(2)), 1e-5));
  const distributions::MultivariateNormal same(loc, {.precision_matrix = vectors.precision_matrix()}),
      third(loc, {.covariance_matrix = vectors.covariance_matrix()});
  CHECK(close(numbers(same.scale_tril()), numbers(l), 1e-5));
  CHECK(close(numbers(third.scale_tril()), numbers(l), 1e-5));
  CHECK_THROWS_WITH(distributions::MultivariateNormal(loc, distributions::CovarianceOptions{}),
                    Catch::Contains("has 0 of"));
  CHECK_THROWS_WITH(distributions::MultivariateNormal(loc, {.covariance_matrix = l, .scale_tril = l}),
                    Catch::Contains("has 2 of") && Catch::Contains("give one"));
}

TEST_CASE("Poisson numbers have the probabilities of the formula", "[tensor][random]") {
  Generator g(9);
  for (const double rate : {0.7, 9.5, 12.0}) {
    const std::vector<double> x = numbers(poisson(rate, {kCount}, {.generator = &g}));
    double probability = std::exp(-rate);
    for (int k = 0; k < 30; ++k) {
      const double part = static_cast<double>(std::count(x.begin(), x.end(), k)) / kCount;
      CHECK(std::abs(part - probability) < 4 * std::sqrt(probability / kCount) + 1e-4);
      probability *= rate / (k + 1);
    }
  }
}

TEST_CASE("parameters of distributions broadcast, and gradients go through them", "[tensor][random]") {
  ON_BOTH_EXECUTORS();
  Generator one(4), two(4);
  const Tensor mean = from({{1.0}, {100.0}}).requires_grad(), deviation = from({0.5, 1.0, 2.0}).requires_grad();
  const Tensor x = normal(mean, deviation, {.generator = &one});
  const Tensor z = randn({2, 3}, {.generator = &two});
  CHECK(same(numbers(x), numbers(mean + deviation * z)));
  const std::vector<Tensor> grads = gradient(x.sum(), {mean, deviation});
  CHECK(same(numbers(grads[0]), {3, 3}));
  CHECK(close(numbers(grads[1]), numbers(z.sum(0))));
  CHECK(exponential(from({1.0, 2.0}), {4, 2}).shape() == Shape{4, 2});
  CHECK(normal(0.0, 1.0).shape() == Shape{});
  CHECK(normal(from({0.0}).to(float64), 1.0).dtype() == float64);
  CHECK(normal(from({0.0}).to(bfloat16), 1.0).dtype() == bfloat16);
  CHECK(poisson(from({2, 3})).dtype() == float32);
  CHECK(randn_like(zeros({2, 3}, float64)).dtype() == float64);
  Generator like(5), alone(5);
  CHECK(rand_like(zeros({2, 3}, float64)).dtype() == float64);
  CHECK(same(numbers(rand_like(zeros({2, 3}), {.generator = &like})), numbers(rand({2, 3}, {.generator = &alone}))));
  CHECK(randint_like(zeros({5}), 2, 3).dtype() == float32);
  CHECK(same(numbers(randint_like(zeros({2}), 2, 3)), {2, 2}));
  CHECK(std::isnan(numbers(poisson(from({-1.0})))[0]));
  CHECK(same(numbers(poisson(from({0.0, 0.0}))), {0, 0}));
  CHECK(std::abs(numbers(dirichlet(from({{1.0, 2.0, 3.0}})).sum())[0] - 1) < 1e-6);
  CHECK(same(numbers(bernoulli(from({0.0, 1.0, 2.0, -1.0}))), {0, 1, 1, 0}));
}

TEST_CASE("classes are drawn with their probabilities", "[tensor][random]") {
  Generator g(2);
  const Tensor logits = log(from({{0.1, 0.2, 0.7, 0.0}, {0.25, 0.25, 0.25, 0.25}}));
  const Tensor drawn = categorical(logits, kCount, {.generator = &g});
  REQUIRE(drawn.shape() == Shape{2, kCount});
  CHECK(drawn.dtype() == int64);
  const double want[2][4] = {{0.1, 0.2, 0.7, 0}, {0.25, 0.25, 0.25, 0.25}};
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t c = 0; c < 4; ++c)
      CHECK(std::abs(numbers((drawn[row] == c).to(float32).mean())[0] - want[row][c]) < 0.015);
  CHECK(categorical(logits).shape() == Shape{2});
}

TEST_CASE("wrong parameters of distributions are refused", "[tensor][random]") {
  const auto refused = [](const char* words, const std::function<void()>& call) {
    try {
      call();
      FAIL_CHECK("accepted: " << words);
    } catch (const UsageError& e) {
      INFO(e.what());
      CHECK(std::string(e.what()).find(words) != std::string::npos);
    }
  };
  refused("normal: the deviation is -1", [] { normal(0.0, -1.0, {2}); });
  refused("exponential: the rate is 0", [] { exponential(0.0, {2}); });
  refused("poisson: the rate is -2", [] { poisson(-2.0, {2}); });
  refused("uniform: no number lies in [3, 1)", [] { uniform(3.0, 1.0, {2}); });
  refused("geometric: the probability is 1.5", [] { geometric(1.5, {2}); });
  refused("parameters of shape [3] do not fit into [1]", [] { normal(zeros({3}), 1.0, {1}); });
  refused("needs a float type, got int32", [] { normal(0.0, 1.0, {2}, {.dtype = int32}); });
  refused("multinomial: 4 classes are drawn of float32 [3], which has 3", [] { multinomial(ones({3}), 4); });
  refused("multinomial: float32 [] has no classes", [] { multinomial(ones({}), 1); });
  refused("randperm: -1 numbers; give at least 0", [] { randperm(-1); });
  refused("trunc_normal: no number lies in [2, 1]", [] { trunc_normal(0.0, 1.0, 2.0, 1.0); });
  refused("categorical: float32 [] has no classes", [] { categorical(zeros({})); });
  refused("bernoulli: probabilities are floats, not int64 [2]", [] { bernoulli(from({0, 1})); });
}

TEST_CASE("a Bernoulli variable may be certain", "[tensor]") {
  for (const DType dtype : {float32, float64, float16, bfloat16}) {
    const Tensor p = from({0.0, 1.0}).to(dtype);
    const distributions::Bernoulli certain({.probs = p});
    CHECK(certain.probs().to(float64).to_vector<double>() == std::vector<double>{0, 1});
    CHECK(certain.sample({100}).to(float64).sum(0).to_vector<double>() == std::vector<double>{0, 100});
    const double epsilon = dtype == float64   ? 0x1p-52
                           : dtype == float32 ? 0x1p-23
                           : dtype == float16 ? 0x1p-10
                                              : 0x1p-7;
    for (const double likely : certain.log_prob(p).to(float64).to_vector<double>()) {
      CHECK(likely <= 0);
      CHECK(likely > -2 * epsilon);
    }
    for (const double bits : certain.entropy().to(float64).to_vector<double>()) {
      CHECK(bits >= 0);
      CHECK(bits < 50 * epsilon);
    }
  }
}

TEST_CASE("an action that is masked has no part in entropy and divergence", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor l = from({1.0, 2.0, -std::numeric_limits<double>::infinity()}).requires_grad();
  const distributions::Categorical masked({.logits = l}), free({.logits = l.slice(0, 0, 2)});
  CHECK(masked.entropy().item() == Approx(free.entropy().item()));
  const std::vector<double> g = numbers(gradient(masked.entropy(), {l})[0]);
  CHECK(g[0] == Approx(0.196612).epsilon(1e-4));  // p (1 - p) (l1 - l0) of two
  CHECK(g[1] == Approx(-0.196612).epsilon(1e-4));
  CHECK(g[2] == 0);
  CHECK(numbers(gradient(distributions::kl_divergence(masked, masked), {l})[0]) == list({0, 0, 0}));
}
