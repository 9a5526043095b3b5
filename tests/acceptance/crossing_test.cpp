// Sums across the outer ranges of a kernel: launches, bytes, and the bits of the unfused form.
#include <cmath>

#include "catch.h"
#include "cost.h"
#include "fixed_target.h"

using namespace sinter;

namespace {

constexpr int64_t kRows = 8192, kWidth = 1024;
constexpr uint64_t kMatrix = kRows * kWidth * 4;
/// For vectors and partial sums.
constexpr uint64_t kLittle = 1 << 20;

using Make = std::function<std::vector<Tensor>(int64_t rows, int64_t width)>;

/// The program at full size for its costs, and at small odd ones for its values and bits.
void check(const Make& make, uint64_t launches, uint64_t bytes, int64_t columns = kWidth) {
  {
    const FixedTarget fixed;
    const std::vector<Tensor> made = make(kRows, columns);
    const Cost c = cost_of([&] { realize_all(made); });
    CHECK(c.launches <= launches);
    CHECK(c.bytes <= bytes);
  }
  const FixedTarget fixed(kSmallPrograms);
  for (auto [rows, width] : {std::pair<int64_t, int64_t>{97, 37}, {70, 70}, {64, 128}, {1, 5}, {3, 1}, {200, 3}}) {
    INFO(rows << " rows of " << width);
    const auto seeded = [&] {
      manual_seed(7);
      return make(rows, width);
    };
    CHECK(same_when_unfused(seeded));
    CHECK(same_as_interpreted(seeded));
  }
}

Tensor leaf(const Shape& shape) { return stored(randn(shape)).requires_grad(); }

}  // namespace

TEST_CASE("layer norm backward is one launch", "[launches]") {
  check(
      [](int64_t n, int64_t m) {
        Tensor x = leaf({n, m}), w = leaf({m}), b = leaf({m}), g = stored(randn({n, m}));
        return gradient((layer_norm(x, {m}, w, b) * g).sum(), {x, w, b});
      },
      1, 3 * kMatrix + kLittle);
}

TEST_CASE("RMS norm backward is one launch", "[launches]") {
  check(
      [](int64_t n, int64_t m) {
        Tensor x = leaf({n, m}), w = leaf({m}), g = stored(randn({n, m}));
        return gradient((rms_norm(x, {m}, w) * g).sum(), {x, w});
      },
      1, 3 * kMatrix + kLittle);
}

TEST_CASE("cross entropy with the gradient of its logits is one launch", "[launches]") {
  constexpr int64_t classes = 1000;
  constexpr uint64_t matrix = kRows * classes * 4;
  // Where rows may be ignored, the gradient of each waits for the number of those that are not; the loss does not.
  for (const bool ignores : {false, true})
    check(
        [&](int64_t n, int64_t m) {
          Tensor x = leaf({n, m}), y = stored(randint(0, m, {n}));
          CrossEntropyOptions options;
          if (!ignores) options.ignore_index = {};
          Tensor loss = cross_entropy(x, y, options);
          std::vector<Tensor> out = gradient(loss, {x});
          out.push_back(loss);
          return out;
        },
        ignores ? 2 : 1, 2 * matrix + kLittle, classes);
  for (const bool ignores : {false, true})
    check(
        [&](int64_t n, int64_t m) {
          Tensor x = stored(randn({n, m})), y = stored(randint(0, m, {n}));
          CrossEntropyOptions options;
          if (!ignores) options.ignore_index = {};
          return std::vector<Tensor>{cross_entropy(x, y, options)};
        },
        1, matrix + kLittle, classes);
}

TEST_CASE("sums over rows, over columns and over everything are one launch", "[launches]") {
  check(
      [](int64_t n, int64_t m) {
        Tensor x = stored(randn({n, m}));
        return std::vector<Tensor>{x.sum(), x.sum(0), x.sum(1)};
      },
      1, kMatrix + kLittle);
}

TEST_CASE("blocks of a sum go on where an axis was split in parts", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  // 18 channels in two groups: blocks of 6 do not end where a group does.
  Tensor x = stored(rand({4, 2, 13, 17})), w = leaf({18, 1, 2, 2}), b = stored(rand({18}));
  CHECK(same_when_unfused([&] {
    const Tensor y = avg_pool2d(relu(conv2d(x, w, b, {.padding = 1, .groups = 2})), 2, {.stride = 2}),
                 loss = (y * y).mean();
    return std::vector<Tensor>{y, loss, gradient(loss, {w})[0]};
  }));
}

TEST_CASE("a training step of a symbolic batch is as many launches as of a fixed one", "[launches]") {
  const Var batch("batch", 1, 256);
  struct Step {
    Cost cost;
    double loss;
    std::vector<float> weight;
  };
  const auto step = [&](const Dim& n) {
    manual_seed(3);
    nn::Linear l1(784, 128), l2(128, 10);
    optim::SGD opt({l1.weight, l1.bias, l2.weight, l2.bias}, {.lr = 0.1});
    realize(l1.weight, l1.bias, l2.weight, l2.bias);
    std::vector<float> images(static_cast<size_t>(n.value()) * 784);
    std::vector<int64_t> labels(static_cast<size_t>(n.value()));
    for (size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i * 7919 % 1009) / 1009;
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>(i % 10);
    Tensor x = from(images, {n, 784}), y = from(labels, {n});
    Tensor loss = cross_entropy(l2(relu(l1(x))), y);
    loss.backward();
    Step out{cost_of([&] { opt.step(); }), 0, {}};
    out.loss = loss.item();
    out.weight = l2.weight.to_vector<float>();
    return out;
  };
  const Step whole = [&] {
    const FixedTarget fixed;
    return step(256);
  }();
  CHECK(whole.cost.launches <= 6);
  const FixedTarget fixed(kSmallPrograms);
  for (int64_t n : {256, 96, 33, 1}) {
    INFO(n);
    const Step symbolic = step(batch(n)), same = n == 256 ? whole : step(n);
    CHECK(symbolic.cost.launches <= whole.cost.launches);
    CHECK(symbolic.cost.bytes <= same.cost.bytes + same.cost.bytes / 8);
    CHECK(symbolic.loss == Approx(same.loss).epsilon(1e-5));
    CHECK(symbolic.weight.size() == same.weight.size());
    for (size_t i = 0; i < same.weight.size(); ++i)
      CHECK(symbolic.weight[i] == Approx(same.weight[i]).epsilon(1e-4).margin(1e-6));
    debug::set_executor(debug::Executor::Unfused);
    const Step unfused = step(batch(n));
    debug::set_executor(debug::Executor::Compiled);
    CHECK(unfused.loss == symbolic.loss);
    CHECK(unfused.weight == symbolic.weight);
  }
}

TEST_CASE("sums across a symbolic number of rows, some of whose blocks are empty", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  const Var rows("rows", 1, 300);
  const std::vector<float> values = rand({300 * 40}).to_vector<float>(), weights = rand({300 * 40}).to_vector<float>();
  for (int64_t n : {300, 1, 31, 32, 33, 200}) {
    INFO(n);
    const auto input = [&](const std::vector<float>& from_all, const Dim& d) {
      return from(std::vector<float>(from_all.begin(), from_all.begin() + n * 40), {d, 40});
    };
    for (const auto& make : {std::function([&](const Dim& d) {
                               Tensor x = input(values, d).requires_grad(), w = stored(ones({40})).requires_grad(),
                                      b = stored(zeros({40})).requires_grad();
                               return gradient((layer_norm(x, {40}, w, b) * input(weights, d)).sum(), {x, w, b});
                             }),
                             std::function([&](const Dim& d) {
                               Tensor x = input(values, d);
                               return std::vector<Tensor>{x.sum(0),    x.sum(1), x.sum(),        x.max(0),
                                                          x.argmax(0), x.var(0), logsumexp(x, 0)};
                             })}) {
      const std::vector<Tensor> symbolic = make(rows(n)), same = make(n);
      CHECK(cost_of([&] { realize_all(symbolic); }).launches == 1);
      realize_all(same);
      for (size_t i = 0; i < same.size(); ++i) {
        const std::vector<float> a = symbolic[i].to(float32).to_vector<float>(),
                                 b = same[i].to(float32).to_vector<float>();
        REQUIRE(a.size() == b.size());
        for (size_t k = 0; k < a.size(); ++k)
          CHECK((a[k] == Approx(b[k]).epsilon(1e-4).margin(1e-5) || (std::isnan(a[k]) && std::isnan(b[k]))));
      }
      CHECK(same_when_unfused([&] { return make(rows(n)); }));
    }
  }
}

TEST_CASE("batch norm in training is two launches", "[launches]") {
  const FixedTarget fixed;
  constexpr uint64_t once = 128 * 64 * 16 * 16 * 4;
  Tensor x = stored(randn({128, 64, 16, 16})).requires_grad();
  nn::BatchNorm2d norm(64);
  realize(norm.weight, norm.bias, norm.running_mean, norm.running_var);
  Tensor y = norm(x);
  const Cost forward = cost(y, norm.running_mean, norm.running_var);
  CHECK(forward.launches <= 2);
  CHECK(forward.bytes <= 3 * once + kLittle);
  CHECK(y.mean().item() == Approx(0).margin(1e-4));
  CHECK((y * y).mean().item() == Approx(1).epsilon(1e-3));
  Tensor g = stored(randn({128, 64, 16, 16}));
  const std::vector<Tensor> d = gradient((norm(x) * g).sum(), {x, norm.weight, norm.bias});
  const Cost backward = cost_of([&] { realize_all(d); });
  CHECK(backward.launches <= 2);
  CHECK(backward.bytes <= 6 * once + kLittle);
}

TEST_CASE("group norm backward is four launches", "[launches]") {
  const FixedTarget fixed;
  constexpr uint64_t once = 64 * 32 * 16 * 16 * 4;
  Tensor x = leaf({64, 32, 16, 16}), w = leaf({32}), b = leaf({32}), g = stored(randn({64, 32, 16, 16}));
  Tensor y = group_norm(x, 8, w, b);
  const Cost forward = cost(y);
  CHECK(forward.launches <= 1);
  const std::vector<Tensor> d = gradient((group_norm(x, 8, w, b) * g).sum(), {x, w, b});
  const Cost backward = cost_of([&] { realize_all(d); });
  CHECK(backward.launches <= 4);
  CHECK(backward.bytes <= 8 * once + kLittle);
}
