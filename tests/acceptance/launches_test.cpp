// Launch counts of known programs, with the bytes that they move and the values that they give: upper bounds at the
// reference Target.
#include <fmt/core.h>

#include "catch.h"
#include "cost.h"
#include "explain.h"
#include "fixed_target.h"
#include "runtime/program/host_target.h"

using namespace sinter;

TEST_CASE("an elementwise chain of sixty ops is one launch", "[launches]") {
  const FixedTarget fixed;
  Tensor a = stored(rand({1000})), b = stored(rand({1000}));
  Tensor x = a;
  std::vector<float> want = a.to_vector<float>(), other = b.to_vector<float>();
  for (int i = 0; i < 30; ++i) {
    x = x * b + 0.5;
    for (size_t j = 0; j < want.size(); ++j) {
      const float product = want[j] * other[j];  // rounded by itself: contraction is off
      want[j] = product + 0.5f;
    }
  }
  const Cost c = cost(x);
  CHECK(c.launches == 1);
  CHECK(c.bytes <= 3 * 4000);
  CHECK(x.to_vector<float>() == want);
}

TEST_CASE("a product is what it computes: written as a sum of expanded tensors it is the same kernel", "[launches]") {
  const FixedTarget fixed;
  const auto text = [](const Tensor& t) {
    const plan::KernelSources made = testing::explain(std::vector<Tensor>{t}, runtime::host_target());
    REQUIRE(made.sources.size() == 1);
    return made.sources[0].text;
  };
  const int64_t m = 300, k = 500, n = 400;
  Tensor a = stored(rand({m, k})), b = stored(rand({k, n}));
  const Tensor spelled = (a.reshape({m, k, 1}).expand({m, k, n}) * b.reshape({1, k, n}).expand({m, k, n})).sum(1);
  CHECK(text(spelled) == text(matmul(a, b)));
  CHECK(text(einsum("mk,kn->mn", {a, b})) == text(matmul(a, b)));
}

TEST_CASE("two values of the same inputs are one launch", "[launches]") {
  const FixedTarget fixed;
  Tensor a = stored(arange(100).to(float32)), b = stored(ones({100}) * 3.0);
  Tensor s = a + b, p = a * b;
  const Cost c = cost(s, p);
  CHECK(c.launches == 1);
  CHECK(c.bytes <= 4 * 400);
  CHECK(s.to_vector<float>()[7] == 10.0f);
  CHECK(p.to_vector<float>()[7] == 21.0f);
}

TEST_CASE("a reduction with what feeds and follows it is one launch", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  Tensor a = stored(arange(12).reshape({3, 4}).to(float32));
  Tensor y = exp((a * 2.0 + 1.0).sum(1) * 0.0) + 1.0;
  CHECK(cost(y).launches == 1);
  CHECK(y.to_vector<float>() == std::vector<float>{2, 2, 2});
  Tensor w = stored(ones({5, 4})), bias = stored(arange(5).to(float32));
  Tensor z = relu(matmul(a, w.transpose()) + bias - 10.0);
  const Cost c = cost(z);
  CHECK(c.launches == 1);
  CHECK(c.bytes <= 4u * (12 + 20 + 5 + 15));
  CHECK(z.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 0, 12, 13, 14, 15, 16, 28, 29, 30, 31, 32});
}

TEST_CASE("a row that is read again and again is one launch", "[launches]") {
  const FixedTarget fixed;
  constexpr int64_t rows = 8192, width = 1024;
  constexpr uint64_t once = rows * width * 4;
  Tensor x = stored(rand({rows, width}));
  Tensor weight = stored(ones({width}) * 2.0), bias = stored(ones({width}));
  const auto one = [](const Tensor& t, uint64_t bytes) {
    const Cost c = cost(t);
    CHECK(c.launches == 1);
    CHECK(c.bytes <= bytes);
    return t;
  };
  Tensor s = one(softmax(x, 1), 2 * once), l = one(log_softmax(x, 1), 2 * once);
  Tensor n = one(layer_norm(x, {width}, weight, bias), 2 * once + 2 * 4 * width);
  Tensor mean = x.mean(1), variance = x.var(1);
  const Cost both = cost(mean, variance);
  CHECK(both.launches == 1);
  CHECK(both.bytes <= once + 2 * 4 * rows);
  CHECK(s[rows - 1].sum().item() == Approx(1).epsilon(1e-5));
  CHECK(exp(l[0]).sum().item() == Approx(1).epsilon(1e-5));
  CHECK(n[rows / 2].mean().item() == Approx(1).epsilon(1e-4));
  CHECK(mean.mean().item() == Approx(0.5).epsilon(1e-2));
  CHECK(variance.mean().item() == Approx(1.0 / 12).epsilon(1e-2));
  CHECK(same_as_interpreted([] {
    manual_seed(1);
    const Tensor y = stored(rand({13, 1024})), scale = stored(rand({1024}));
    return std::vector<Tensor>{softmax(y, 1), log_softmax(y, 1), layer_norm(y, {1024}, scale, scale), y.mean(1),
                               y.var(1)};
  }));
}

TEST_CASE("scans of a row of a million are three launches, with many tasks each", "[launches]") {
  const FixedTarget fixed;  // each kernel has parallel tasks
  constexpr int64_t n = 1 << 20;
  const Tensor x = stored(rand({n}) - 0.5), whole = stored(randint(-9, 9, {n}));
  const Tensor sums = cumsum(x, 0);
  const Cost c = cost(sums);
  CHECK(c.launches <= 3);
  CHECK(c.bytes <= 3 * 4 * n + 4 * n / 8);
  CHECK(cost(cumsum(whole, 0)).launches <= 3);
  CHECK(cost(cumprod(x, 0)).launches <= 3);
  CHECK(cost(logcumsumexp(x, 0)).launches <= 4);  // and what is made of the results of its scans
  const auto [values, indices] = cummax(x, 0);
  CHECK(cost(values, indices).launches <= 4);
  CHECK(sums.index({n - 1}).item() == Approx(x.sum().item()).epsilon(1e-4));
  CHECK(same_when_unfused([] {
    manual_seed(1);
    const Tensor y = stored(rand({3, 20000})), z = stored(rand({9000, 2}));
    return std::vector<Tensor>{cumsum(y, 1), cumsum(z, 0) * 2.0, cummax(y, 1).values, logcumsumexp(z, 0),
                               cumprod(y + 0.5, 1)};
  }));
}

TEST_CASE("a look-up in a 50,000-row table and its gradient are one launch each", "[launches]") {
  const FixedTarget fixed;
  constexpr int64_t rows = 50000, width = 16;
  Tensor table = stored(ones({rows, width}) * 2.0).requires_grad();
  Tensor index = from(std::vector<int64_t>{3, 49999, 3, -1, 17});
  {
    Tensor y = embedding(index, table);
    const Cost c = cost(y);
    CHECK(c.launches == 1);
    CHECK(c.bytes < 10000);  // never the table
    CHECK(y.sum().item() == 160.0);
  }
  Tensor weight = stored(ones({5, width}) * 3.0);
  (embedding(index, table) * weight).sum().backward();
  Tensor g = table.grad();
  const Cost c = cost(g);
  CHECK(c.launches == 1);
  CHECK(c.bytes <= static_cast<uint64_t>(rows * width * 4) + 10000);  // the zero fill, and the rows
  CHECK(g[3].sum().item() == 16 * 6.0);
  CHECK(g[49999].sum().item() == 16 * 6.0);
  CHECK(g.sum().item() == 5 * 16 * 3.0);
}

TEST_CASE("many additions at indices that need memory are cut again once, not once each", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  debug::clear_plans();
  debug::reset_counters();
  Tensor r = zeros({50, 4});
  for (int64_t k = 0; k < 30; ++k) r = scatter_add(r, 0, full({7, 4}, k), full({7, 4}, 1.0f));
  CHECK(r.sum().item() == 30 * 7 * 4);
  CHECK(debug::counters().partition_runs <= 2);
}

TEST_CASE("a training step of the MLP is at most 6 launches, whoever keeps the gradients", "[launches]") {
  const FixedTarget fixed;
  for (auto [adam, kept] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    INFO((adam ? "Adam" : "SGD") << (kept ? ", gradients kept" : ""));
    manual_seed(0);
    nn::Linear l1(784, 128), l2(128, 10);
    std::vector<Tensor> parameters{l1.weight, l1.bias, l2.weight, l2.bias};
    std::unique_ptr<optim::Optimizer> opt;
    if (adam)
      opt = std::make_unique<optim::Adam>(parameters, optim::Adam::Options{});
    else
      opt = std::make_unique<optim::SGD>(parameters, optim::SGD::Options{.lr = 0.1});
    Tensor x = stored(rand({256, 784})), y = stored(randint(0, 10, {256}));
    realize_all(parameters);
    double first = 0, last = 0;
    for (int i = 0; i < 4; ++i) {
      Tensor loss = cross_entropy(l2(relu(l1(x))), y);
      loss.backward();
      std::vector<Tensor> gradients;
      if (kept)
        for (const Tensor& p : parameters) gradients.push_back(p.grad());
      const std::vector<float> before = l2.bias.to_vector<float>();
      debug::reset_counters();
      opt->step();
      CHECK(debug::counters().launches <= 6);
      CHECK(debug::counters().bytes_moved < 6u << 20);
      if (kept && !adam) {
        const std::vector<float> slope = gradients[3].to_vector<float>(), after = l2.bias.to_vector<float>();
        for (size_t k = 0; k < slope.size(); ++k) CHECK(after[k] == Approx(before[k] - 0.1f * slope[k]).margin(1e-7));
      }
      (i == 0 ? first : last) = loss.item();
      CHECK(debug::counters().launches <= 6);  // the loss was stored by the step
    }
    CHECK(last < first);
    WARN(fmt::format("{}{}: {} launches, {:.1f} MB moved", adam ? "Adam" : "SGD", kept ? ", gradients kept" : "",
                     debug::counters().launches, debug::counters().bytes_moved / 1e6));
  }
}

TEST_CASE("ctc_loss has a launch for two steps of the time, and its gradient as many", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  for (const int64_t time : {40, 41}) {
    const Tensor labels = stored(randint(1, 10, {3, 6}));
    Tensor logits = stored(randn({time, 3, 10}));
    logits.requires_grad();
    const auto loss = [&] {
      return ctc_loss(log_softmax(logits, 2), labels, std::vector<int64_t>{time, time - 3, 12}, {6, 5, 0});
    };
    const uint64_t half = static_cast<uint64_t>(time + 1) / 2;
    CHECK(cost(loss()).launches <= half + 5);
    CHECK(cost(gradient(loss(), {logits})[0]).launches <= 2 * half + 8);
    CHECK(same_as_interpreted([&] { return std::vector<Tensor>{loss(), gradient(loss(), {logits})[0]}; }));
  }
}

TEST_CASE("topk and sort are two launches", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  const Tensor x = stored(rand({64, 5000}));
  const auto launches = [](const Ranked& r) { return cost(r.values, r.indices).launches; };
  CHECK(launches(topk(x, 8)) <= 2);
  CHECK(launches(sort(x)) <= 2);
  CHECK(same_as_interpreted([&] {
    const Tensor some = x.slice(1, 0, 300);
    return std::vector<Tensor>{topk(some, 8).values, topk(some, 8).indices, sort(some).values, sort(some).indices};
  }));
}

TEST_CASE("counts of a vector are two launches, the first one a task for each block", "[launches]") {
  const FixedTarget fixed;
  const Tensor places = stored(randint(0, 100, {200000})), weights = stored(rand({200000}));
  const auto counts = [&] { return scatter_add(zeros({100}, int64), 0, places, 1); };
  CHECK(cost(counts()).launches == 2);
  CHECK(cost(scatter_add(zeros({100}), 0, places, weights)).launches == 2);
  const plan::KernelSources made = testing::explain(std::vector<Tensor>{counts()}, runtime::host_target());
  CHECK(made.scheduled.plan.steps[0].outer[0].fixed >= 40);
  CHECK(same_as_interpreted([&] { return std::vector<Tensor>{counts(), bincount(places, weights)}; }));
}

TEST_CASE("a million dependent adds: few launches, fewer bodies, no recursion", "[launches][slow]") {
  const FixedTarget fixed(kSmallPrograms);
  constexpr int kLinks = 1000000;
  const size_t nodes = debug::counters().live_nodes;
  {
    Tensor step = stored(from(std::vector<int64_t>{1, 2, 3}));
    Tensor x = stored(zeros({3}, int64));
    for (int i = 0; i < kLinks; ++i) x = x + step;
    debug::reset_counters();
    x.realize();
    const debug::Counters c = debug::counters();
    CHECK(c.launches <= 2600);
    CHECK(c.compiles <= 4);
    CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{kLinks, 2 * kLinks, 3 * kLinks});
    WARN(fmt::format("{} launches, {} bodies compiled", c.launches, c.compiles));
  }
  CHECK(debug::counters().live_nodes == nodes);
}

TEST_CASE("differences of all pairs of bodies are computed where they are used, in vectors", "[launches]") {
  const FixedTarget fixed;
  const int64_t n = 1024;
  const Tensor place = stored(rand({n, 3})), mass = stored(rand({n}));
  const auto accelerations = [&] {
    const Tensor apart = place.unsqueeze(0) - place.unsqueeze(1), squares = (apart * apart).sum(2) + 1e-2;
    return (apart * (mass / (squares * sqrt(squares))).unsqueeze(2)).sum(1);
  };
  const plan::KernelSources made = testing::explain(std::vector{accelerations()}, runtime::host_target());
  REQUIRE(made.sources.size() == 1);
  INFO(made.sources[0].text);
  CHECK(made.sources[0].text.find("vector_size") != std::string::npos);
  CHECK(made.sources[0].text.find("  f32 acc") == std::string::npos);  // a sum that has no lanes
  CHECK(cost(accelerations()).bytes <= 7 * n * 4);
}
