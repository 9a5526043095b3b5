// autocast and GradScaler: types of results, gradients of float32 weights, steps that are left out.
#include <limits>
#include <thread>

#include "catch.h"
#include "sinter/error.h"
#include "sinter/sinter.h"

using namespace sinter;

TEST_CASE("autocast chooses the type of products, losses and norms", "[nn][autocast]") {
  const Tensor x = randn({4, 8}), w = randn({8, 8});
  CHECK(matmul(x, w).dtype() == float32);
  {
    const autocast scope(bfloat16);
    const Tensor y = matmul(x, w);
    CHECK(y.dtype() == bfloat16);
    CHECK(einsum("ij,jk->ik", {x, w}).dtype() == bfloat16);
    CHECK(conv2d(randn({1, 2, 5, 5}), randn({3, 2, 3, 3}), randn({3})).dtype() == bfloat16);
    CHECK(nn::Linear(8, 3)(x).dtype() == bfloat16);
    CHECK(scaled_dot_product_attention(x, x, x).dtype() == bfloat16);
    CHECK(relu(y).dtype() == bfloat16);
    CHECK(gelu(y).dtype() == bfloat16);
    CHECK((y + x).dtype() == float32);
    CHECK((y + 1.0).dtype() == bfloat16);
    CHECK(softmax(y, 1).dtype() == float32);
    CHECK(layer_norm(y, {8}, ones({8}), zeros({8})).dtype() == float32);
    CHECK(exp(y).dtype() == float32);
    CHECK(y.sum().dtype() == float32);
    CHECK(y.prod(1).dtype() == float32);
    CHECK(cumsum(y, 1).dtype() == float32);
    CHECK(group_norm(y.reshape({4, 8, 1}), 2, ones({8}), zeros({8})).dtype() == float32);
    CHECK(binary_cross_entropy_with_logits(y, sigmoid(y)).dtype() == float32);
    CHECK(y.mean().dtype() == bfloat16);
    CHECK(mse_loss(y, y).dtype() == float32);
    CHECK(matmul(x.to(float64), w.to(float64)).dtype() == float64);
    CHECK(matmul(x.to(int32), w.to(int32)).dtype() == int32);
    {
      const autocast off(float32);
      CHECK(matmul(x, w).dtype() == float32);
      CHECK(matmul(y, y.transpose()).dtype() == bfloat16);  // as it is
    }
    CHECK(matmul(x, w).dtype() == bfloat16);
    {
      const autocast half(float16);
      CHECK(matmul(y, w).dtype() == float16);
    }
  }
  CHECK(matmul(x, w).dtype() == float32);
  CHECK_THROWS_AS(autocast(int32), UsageError);
  CHECK_THROWS_AS(autocast(float64), UsageError);
}

TEST_CASE("a product under autocast is that of rounded factors", "[nn][autocast]") {
  const Tensor x = randn({5, 7}).realize(), w = randn({7, 3}).realize();
  const Tensor want = matmul(x.to(bfloat16), w.to(bfloat16));
  const autocast scope(bfloat16);
  CHECK((matmul(x, w) == want).all().item<bool>());
}

TEST_CASE("scores of attention stay float32 under autocast", "[nn][autocast]") {
  const Tensor q = randn({6, 8}).realize();
  const Tensor h = q.to(bfloat16), wide = h.to(float32);
  const Tensor weights = softmax(matmul(wide, wide.transpose()) / sqrt(full({}, 8.0)), 1);
  const Tensor want = matmul(weights.to(bfloat16), h);
  const autocast scope(bfloat16);
  CHECK((scaled_dot_product_attention(q, q, q) == want).all().item<bool>());
}

TEST_CASE("weights and their gradients are float32 under autocast", "[nn][autocast]") {
  nn::Linear layer(6, 4);
  const Tensor x = randn({3, 6}).realize();
  Tensor loss;
  {
    const autocast scope(bfloat16);
    loss = square(layer(x)).sum();
  }
  loss.backward();
  CHECK(layer.weight.dtype() == float32);
  CHECK(layer.weight.grad().dtype() == float32);
  CHECK(layer.bias.grad().dtype() == float32);
  const Tensor rounded = layer.weight.grad();
  layer.weight.zero_grad();
  square(layer(x)).sum().backward();
  CHECK(abs(rounded - layer.weight.grad()).max().item() < 0.05 * abs(layer.weight.grad()).max().item());
}

TEST_CASE("autocast holds inside jit and layers, and in its own thread only", "[nn][autocast]") {
  const Tensor x = randn({4, 4}).realize();
  const autocast scope(bfloat16);
  auto f = jit([](const Tensor& t) { return matmul(t, t); });
  CHECK(f(x).dtype() == bfloat16);
  {
    const autocast off(float32);  // another plan than that of the scope
    for (int i = 0; i < 3; ++i) CHECK(f(x).dtype() == float32);
  }
  CHECK(f(x).dtype() == bfloat16);
  DType other = DType::Void;
  std::thread([&] { other = matmul(x, x).dtype(); }).join();
  CHECK(other == float32);
}

TEST_CASE("the precision of products is a setting of jit, and belongs to the value", "[nn][autocast]") {
  CHECK(get_float32_matmul_precision() == "highest");
  const Tensor x = randn({32, 32}).realize();
  int calls = 0;
  auto f = jit([&](const Tensor& t) {
    ++calls;
    return matmul(t, t);
  });
  const auto run = [&](const char* precision) {
    set_float32_matmul_precision(precision);
    std::vector<float> first = matmul(x, x).to_vector<float>();
    const int before = calls;
    for (int i = 0; i < 4; ++i) CHECK(f(x).to_vector<float>() == first);
    return calls - before;
  };
  CHECK(run("highest") > 0);
  CHECK(run("high") > 0);
  CHECK(run("medium") == 0);  // as "high"
  CHECK(run("highest") == 0);
  CHECK(get_float32_matmul_precision() == "highest");
}

TEST_CASE("a grad scaler leaves out steps whose gradients are not finite", "[nn][autocast]") {
  Tensor p = full({3}, 2.0).requires_grad();
  optim::SGD sgd({p}, {.lr = 0.5});
  optim::GradScaler scaler({.init_scale = 1024, .growth_interval = 2});
  const auto step = [&](double factor) {
    scaler.scale((p * factor).sum()).backward();
    const bool done = scaler.step(sgd);
    scaler.update();
    return done;
  };
  CHECK(step(1.0));
  CHECK(p.to_vector<float>() == std::vector<float>{1.5, 1.5, 1.5});
  CHECK(scaler.get_scale() == 1024);
  CHECK(step(1.0));
  CHECK(scaler.get_scale() == 2048);  // after two iterations
  CHECK_FALSE(step(std::numeric_limits<double>::infinity()));
  CHECK(p.to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK_FALSE(p.has_grad());
  CHECK(scaler.get_scale() == 1024);
  const nn::NamedTensors state = scaler.state_dict();
  optim::GradScaler other;
  other.load(state);
  CHECK(other.get_scale() == 1024);

  scaler.scale((p * 4.0).sum()).backward();
  scaler.unscale(sgd);
  CHECK(p.grad().to_vector<float>() == std::vector<float>{4, 4, 4});
  CHECK_THROWS_AS(scaler.unscale(sgd), UsageError);
  p.set_grad(p.grad() * 0.25);
  CHECK(scaler.step(sgd));
  scaler.scale((p * 4.0).sum()).backward();
  CHECK_THROWS_AS(scaler.step(sgd), UsageError);  // before update(), with gradients that nothing has divided
  p.zero_grad();
  CHECK(p.to_vector<float>() == std::vector<float>{0.5, 0.5, 0.5});

  CHECK_THROWS_AS(optim::GradScaler({.init_scale = 0}), UsageError);
  CHECK_THROWS_AS(optim::GradScaler({.growth_factor = 0.5}), UsageError);
  CHECK_THROWS_AS(optim::GradScaler({.backoff_factor = 2}), UsageError);
}

TEST_CASE("a grad scaler refuses float16 gradients and states that are none", "[nn][autocast]") {
  Tensor p = full({3}, 2.0).requires_grad(), half = full({2}, 2.0, float16).requires_grad();
  optim::SGD sgd({p, half}, {.lr = 0.5});
  optim::GradScaler scaler({.init_scale = 4});
  scaler.scale(p.sum() + half.sum()).backward();
  CHECK_THROWS_WITH(scaler.unscale(sgd), Catch::Contains("parameter 1 of 2 is float16"));
  CHECK_THROWS_WITH(scaler.step(sgd),
                    Catch::Contains("keep the weights float32") && Catch::Contains("autocast(float16)"));
  CHECK(p.grad().to_vector<float>() == std::vector<float>{4, 4, 4});  // nothing was divided
  half.zero_grad();
  CHECK(scaler.step(sgd));
  CHECK(p.to_vector<float>() == std::vector<float>{1.5, 1.5, 1.5});
  const auto state = [](double scale, int64_t tracker) {
    return nn::NamedTensors{{"scale", full({}, scale, float64)}, {"growth_tracker", full({}, tracker, int64)}};
  };
  CHECK_THROWS_WITH(scaler.load(state(-1, 2)),
                    Catch::Contains("scale is -1 and growth_tracker 2; load the state_dict()"));
  CHECK_THROWS_WITH(scaler.load(state(8, -2)), Catch::Contains("growth_tracker -2"));
  CHECK(scaler.get_scale() == 4);
}

TEST_CASE("a scaler that is not enabled leaves everything to the optimizer", "[nn][autocast]") {
  Tensor p = full({2}, 1.0).requires_grad();
  optim::SGD sgd({p}, {.lr = 1.0});
  optim::GradScaler scaler({.enabled = false});
  const Tensor loss = p.sum();
  CHECK(scaler.scale(loss).cell() == loss.cell());
  loss.backward();
  CHECK(scaler.step(sgd));
  scaler.update();
  CHECK(scaler.get_scale() == 1);
  CHECK(p.to_vector<float>() == std::vector<float>{0, 0});
}

TEST_CASE("another scale compiles nothing", "[nn][autocast]") {
  Tensor p = full({3}, 2.0).requires_grad();
  optim::SGD sgd({p}, {.lr = 0.5});
  optim::GradScaler scaler({.growth_interval = 1});
  const auto step = [&] {
    scaler.scale((p * 3.0).sum()).backward();
    scaler.step(sgd);
    scaler.update();
  };
  step();
  step();
  const uint64_t before = debug::counters().plan_misses;
  step();
  CHECK(debug::counters().plan_misses == before);
}
