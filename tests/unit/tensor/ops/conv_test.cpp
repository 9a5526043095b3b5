// Convolution and pooling against loops, compiled and interpreted; their gradients against differences.
#include <limits>
#include <random>

#include "explain.h"
#include "unit/differences.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Geometry {
  int64_t kernel, stride, padding, dilation;
  int64_t outputs(int64_t size) const { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
};

/// Calls f(offset) for the taps of window o that lie in [0, size).
template <class F>
void taps(const Geometry& g, int64_t o, int64_t size, F f) {
  for (int64_t k = 0; k < g.kernel; ++k)
    if (const int64_t at = o * g.stride - g.padding + k * g.dilation; at >= 0 && at < size) f(k, at);
}

std::vector<double> convolved(const std::vector<double>& x, const std::vector<double>& w, int64_t n, int64_t in,
                              int64_t out, int64_t h, int64_t v, const Geometry& a, const Geometry& b, int64_t groups) {
  const int64_t oh = a.outputs(h), ow = b.outputs(v), each = in / groups;
  std::vector<double> y(static_cast<size_t>(n * out * oh * ow), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t o = 0; o < out; ++o)
      for (int64_t c = 0; c < each; ++c)
        for (int64_t p = 0; p < oh; ++p)
          for (int64_t q = 0; q < ow; ++q)
            taps(a, p, h, [&](int64_t k, int64_t r) {
              taps(b, q, v, [&](int64_t l, int64_t s) {
                const int64_t channel = o / (out / groups) * each + c;
                y[static_cast<size_t>(((i * out + o) * oh + p) * ow + q)] +=
                    x[static_cast<size_t>(((i * in + channel) * h + r) * v + s)] *
                    w[static_cast<size_t>(((o * each + c) * a.kernel + k) * b.kernel + l)];
              });
            });
  return y;
}

std::vector<double> whole_numbers(std::mt19937& random, int64_t count) {
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<double>(random() % 9) - 4);
  return out;
}

}  // namespace

TEST_CASE("conv2d sums the products of loops", "[conv][tensor]") {
  ON_BOTH_EXECUTORS();
  std::mt19937 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 40; ++round) {
    const Geometry a{pick(1, 4), pick(1, 3), pick(0, 2), pick(1, 3)}, b{pick(1, 4), pick(1, 3), pick(0, 2), pick(1, 3)};
    const int64_t h = pick(1, 9), v = pick(1, 9), groups = pick(1, 3), in = groups * pick(1, 3),
                  out = groups * pick(1, 3), n = pick(1, 3);
    if (h + 2 * a.padding < a.dilation * (a.kernel - 1) + 1 || v + 2 * b.padding < b.dilation * (b.kernel - 1) + 1)
      continue;
    INFO("round " << round);
    const std::vector<double> x = whole_numbers(random, n * in * h * v),
                              w = whole_numbers(random, out * in / groups * a.kernel * b.kernel);
    const Tensor y = conv2d(from(x, {n, in, h, v}), from(w, {out, in / groups, a.kernel, b.kernel}), {},
                            {.stride = {a.stride, b.stride},
                             .padding = {a.padding, b.padding},
                             .dilation = {a.dilation, b.dilation},
                             .groups = groups});
    const std::vector<double> expected = convolved(x, w, n, in, out, h, v, a, b, groups);
    CHECK(y.shape() == Shape{n, out, a.outputs(h), b.outputs(v)});
    CHECK(numbers(y) == expected);
    if (round % 2) CHECK(y.to_vector<double>() == expected);
  }
}

TEST_CASE("convolution: bias, one axis, no batch, other types, a symbolic batch", "[conv][tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1, 2, 3, 4}, {0, 1, 0, 1}}), w = from({{{1, 1}, {2, 0}}});  // [2, 4], [1, 2, 2]
  CHECK(numbers(conv1d(x, w)) == list({3, 7, 7}));
  CHECK(conv1d(x, w).dtype() == int64);
  CHECK(conv1d(x, w).shape() == Shape{1, 3});
  CHECK(numbers(conv1d(x, w, from({10}))) == list({13, 17, 17}));
  CHECK(numbers(conv1d(x, w, {}, {.stride = 2, .padding = 1})) == list({1, 7, 6}));
  CHECK(conv1d(x.unsqueeze(0), w.to(float32)).shape() == Shape{1, 1, 3});
  CHECK(conv1d(x, w.to(float32)).dtype() == float32);
  Var batch("batch", 1, 8);
  for (int64_t n : {2, 5}) {
    const std::vector<float> numbers_of(static_cast<size_t>(n * 2 * 4), 2.0f);
    const Tensor y = conv1d(from(numbers_of, {batch(n), 2, 4}), w);
    CHECK(y.shape()[0] == batch(n));
    CHECK(y.to_vector<float>() == std::vector<float>(static_cast<size_t>(n * 3), 8.0f));
  }
}

TEST_CASE("pooling: padding is never the largest, and counts in a mean if asked", "[conv][tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{{-1.0, -2.0, -3.0}, {-4.0, -5.0, -6.0}, {-7.0, -8.0, -9.0}}}, float64);  // [1, 3, 3]
  CHECK(numbers(max_pool2d(x, 2)) == list({-1}));
  CHECK(numbers(max_pool2d(x, 2, {.stride = 1})) == list({-1, -2, -4, -5}));
  CHECK(numbers(max_pool2d(x, 2, {.padding = 1})) == list({-1, -2, -4, -5}));
  CHECK(numbers(max_pool2d(x, {3, 1}, {.stride = {2, 2}, .padding = {1, 0}})) == list({-1, -3, -4, -6}));
  CHECK(numbers(max_pool2d(x, 2, {.stride = 1, .dilation = 2})) == list({-1}));
  CHECK(numbers(max_pool2d((x * 2).to(int32), 2)) == list({-2}));
  CHECK(numbers(max_pool2d(x > -5.0, 2, {.stride = 1})) == list({1, 1, 1, 0}));
  CHECK(numbers(avg_pool2d(x, 2)) == list({-3}));
  CHECK(numbers(avg_pool2d(x, 2, {.padding = 1})) == list({-0.25, -1.25, -2.75, -7}));
  CHECK(numbers(avg_pool2d(x, 2, {.padding = 1, .count_include_pad = false})) == list({-1, -2.5, -5.5, -7}));
  CHECK(avg_pool2d(x.to(int64), 3).dtype() == float32);
  CHECK(std::isnan(numbers(max_pool2d(where(x == -5.0, std::numeric_limits<double>::quiet_NaN(), x), 2))[0]));
  // The same value with and without history.
  Tensor leaf = x.clone();
  leaf.requires_grad();
  CHECK(numbers(max_pool2d(leaf, 2, {.stride = 1, .padding = 1})) ==
        numbers(max_pool2d(x, 2, {.stride = 1, .padding = 1})));
}

TEST_CASE("sums of windows with a stride loop over phases of what they are the gradient of, and no other ones",
          "[conv][schedule]") {
  const auto loops = [](const Tensor& t, bool cuda = false) {
    const plan::KernelSources made =
        testing::explain({&t, 1}, cuda ? runtime::cuda_target({}) : runtime::reference_target());
    REQUIRE(made.scheduled.kernels.size() == 1);
    std::vector<int64_t> sizes;
    for (const Dim& d : made.scheduled.kernels[0].outer) sizes.push_back(d.bound());
    return sizes;
  };
  using Sizes = std::vector<int64_t>;
  const auto slope = [](int64_t size, int64_t kernel, const ConvOptions& options) {
    Tensor x = rand({6, 3, size, size}).realize(), w = rand({4, 3, kernel, kernel}).realize();
    x.requires_grad();
    const Tensor y = conv2d(x, w, {}, options);
    return gradient((y * rand(y.shape()).realize()).sum(), {x})[0];
  };
  CHECK(loops(slope(16, 3, {.stride = 2, .padding = 1})) == Sizes{6, 3, 8, 2, 8, 2});
  CHECK(loops(slope(18, 5, {.stride = 3, .padding = 2})) == Sizes{6, 3, 6, 3, 6, 3});
  CHECK(loops(slope(16, 3, {.stride = {2, 1}, .padding = 1})) == Sizes{6, 3, 8, 2, 16});
  CHECK(loops(slope(16, 3, {.padding = 1})) == Sizes{6, 3, 16, 16});
  CHECK(loops(slope(17, 3, {.stride = 2, .padding = 1})) == Sizes{6, 3, 17, 17});  // which 2 does not divide
  CHECK(loops(slope(16, 3, {.stride = 2, .padding = 1}), true) == Sizes{6, 3, 16, 16});
  const Tensor x = rand({5, 8, 2}).realize();
  CHECK(loops(x.reshape({5, 16}).sum(0)) == Sizes{16});
  CHECK(loops(x.permute({1, 0, 2}).reshape({8, 10}).sum(0)) == Sizes{10});  // one load needs quotient and remainder,
  const Tensor heads = rand({5, 8, 32}).realize();  // which are panels if they are whole vectors
  CHECK(loops(heads.permute({1, 0, 2}).reshape({8, 160}).sum(0)) == Sizes{5, 32});
  CHECK(loops(heads.permute({1, 0, 2}).reshape({8, 160}).sum(0), true) == Sizes{160});
  CHECK(loops(x.unsqueeze(3).expand({5, 8, 2, 2}).reshape({5, 32}).sum(0)) == Sizes{32});  // no remainder is looked at
}

TEST_CASE("a stride of 0 along an axis is the kernel's size there", "[conv]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = (arange(24, float32) * 5.0 % 7.0).reshape({1, 4, 6});
  struct {
    PerAxis given, meant;
  } const cases[] = {{0, {2, 3}}, {{0, 0}, {2, 3}}, {{0, 1}, {2, 1}}, {{1, 0}, {1, 3}}};
  for (const auto& [given, meant] : cases) {
    const PerAxis kernel{2, 3};
    const Tensor most = max_pool2d(x, kernel, {.stride = given}), mean = avg_pool2d(x, kernel, {.stride = given});
    const Tensor most_meant = max_pool2d(x, kernel, {.stride = meant}),
                 mean_meant = avg_pool2d(x, kernel, {.stride = meant});
    CHECK(most.shape() == most_meant.shape());
    CHECK(numbers(most) == numbers(most_meant));
    CHECK(mean.shape() == mean_meant.shape());
    CHECK(numbers(mean) == numbers(mean_meant));
    CHECK(numbers(nn::MaxPool2d(kernel, {.stride = given})(x)) == numbers(most_meant));
    CHECK(numbers(nn::AvgPool2d(kernel, {.stride = given})(x)) == numbers(mean_meant));
  }
  CHECK_THROWS_AS(max_pool2d(x, 2, {.stride = {0, -1}}), UsageError);
  CHECK_THROWS_AS(conv2d(x, ones({1, 1, 2, 2}), {}, {.stride = {0, 0}}), UsageError);
}

TEST_CASE("max_pool2d gives its gradient to the first of equal elements", "[conv][gradient]") {
  ON_BOTH_EXECUTORS();
  auto slope = [](const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {}) {
    Tensor leaf = x.clone();
    leaf.requires_grad();
    return numbers(gradient(max_pool2d(leaf, kernel, options).sum(), {leaf})[0]);
  };
  CHECK(slope(from({{{1.0, 1.0}, {1.0, 1.0}}}), 2) == list({1, 0, 0, 0}));
  CHECK(slope(from({{{0.0, 3.0}, {3.0, 3.0}}}), 2) == list({0, 1, 0, 0}));
  CHECK(slope(from({{{2.0, 2.0, 2.0}}}), {1, 2}, {.stride = 1}) == list({1, 1, 0}));
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(slope(full({1, 2, 2}, -inf), 2, {.padding = 1}) == list({1, 1, 1, 1}));
}

TEST_CASE("gradients of convolution and pooling agree with differences, to the second order", "[conv][gradient]") {
  ON_BOTH_EXECUTORS();
  const std::vector<Differences> cases{
      {"conv1d", [](const Tensors& x) { return conv1d(x[0], x[1], x[2]); }, {{2, 2, 6}, {3, 2, 3}, {3}}},
      {"conv1d with stride",
       [](const Tensors& x) { return conv1d(x[0], x[1], {}, {.stride = 2, .padding = 1}); },
       {{1, 2, 7}, {2, 2, 3}}},
      {"conv1d, gaps between windows",
       [](const Tensors& x) { return conv1d(x[0], x[1], {}, {.stride = 3}); },
       {{1, 2, 8}, {2, 2, 2}}},
      {"conv1d with dilation",
       [](const Tensors& x) { return conv1d(x[0], x[1], {}, {.padding = 2, .dilation = 2}); },
       {{1, 2, 6}, {2, 2, 3}}},
      {"conv1d with stride and dilation",
       [](const Tensors& x) { return conv1d(x[0], x[1], {}, {.stride = 2, .padding = 2, .dilation = 3}); },
       {{1, 1, 8}, {2, 1, 3}}},
      {"conv1d with a dilation that the stride divides",
       [](const Tensors& x) { return conv1d(x[0], x[1], {}, {.stride = 2, .dilation = 4}); },
       {{1, 1, 10}, {1, 1, 2}}},
      {"conv2d",
       [](const Tensors& x) { return conv2d(x[0], x[1], x[2], {.padding = {1, 0}}); },
       {{1, 2, 4, 3}, {2, 2, 3, 2}, {2}}},
      {"conv2d in groups",
       [](const Tensors& x) { return conv2d(x[0], x[1], {}, {.stride = {1, 2}, .groups = 2}); },
       {{1, 4, 3, 4}, {2, 2, 2, 2}}},
      {"max_pool2d", [](const Tensors& x) { return max_pool2d(x[0] * x[0], 2); }, {{1, 2, 4, 4}}},
      {"max_pool2d, overlapping",
       [](const Tensors& x) { return max_pool2d(x[0] * x[0], 3, {.stride = 2, .padding = 1}); },
       {{1, 1, 5, 5}}},
      {"avg_pool2d",
       [](const Tensors& x) {
         return avg_pool2d(x[0] * x[0], {2, 3}, {.stride = 1, .padding = 1, .count_include_pad = false});
       },
       {{1, 2, 3, 4}}},
  };
  for (const Differences& c : cases) check_differences(c);
}

TEST_CASE("a convolution of an enlarged image, and its gradients, are those of a stored one", "[tensor]") {
  const auto twice = [](const Tensor& x) {
    const Shape s = x.shape();
    return x.reshape({s[0], s[1], s[2], 1, s[3], 1})
        .expand({s[0], s[1], s[2], 2, s[3], 2})
        .reshape({s[0], s[1], s[2] * 2, s[3] * 2});
  };
  const Tensor small = rand({2, 3, 5, 6}).realize(), w = rand({4, 3, 3, 3}).realize();
  const Tensor large = twice(small).clone().realize();
  const auto all = [](const Tensor& x, const Tensor& weights) {
    Tensor a = x.detach().requires_grad(), b = weights.detach().requires_grad();
    const Tensor y = conv2d(a, b, {}, {.padding = 1});
    std::vector<std::vector<float>> values{y.to_vector<float>()};
    for (const Tensor& g : gradient((y * y).sum(), {a, b})) values.push_back(g.to_vector<float>());
    return values;
  };
  const Tensor lazy = small * 1.0;
  CHECK(conv2d(twice(lazy), w, {}, {.padding = 1}).to_vector<float>() == all(large, w)[0]);
  Tensor x = small.detach().requires_grad(), weights = w.detach().requires_grad();
  const Tensor y = conv2d(twice(x), weights, {}, {.padding = 1});
  const std::vector<Tensor> got = gradient((y * y).sum(), {x, weights});
  const auto want = all(large, w);
  const Tensor of_large = from(want[1], {2, 3, 5, 2, 6, 2}).sum({3, 5});
  CHECK(close(numbers(got[0]), numbers(of_large), 1e-5));
  CHECK(close(numbers(got[1]), std::vector<double>(want[2].begin(), want[2].end()), 1e-5));
}

TEST_CASE("with ceil_mode a window may be larger than what it sees", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from(std::vector<double>{1, 2, 3, 4}, {1, 1, 2, 2});
  CHECK(numbers(max_pool2d(x, 3, {.stride = 2, .ceil_mode = true})) == list({4}));
  CHECK(numbers(avg_pool2d(x, 3, {.stride = 2, .ceil_mode = true})) == list({2.5f}));
  CHECK_THROWS_WITH(max_pool2d(x, 3, {.stride = 1, .ceil_mode = true}), Catch::Matchers::Contains("3 elements"));
}
