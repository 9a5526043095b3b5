// Long chains, stores over what they read, cells and networks: launches at the reference Target.
#include <tuple>

#include "catch.h"
#include "cost.h"
#include "fixed_target.h"
#include "sinter/nn/sequence.h"

using namespace sinter;

TEST_CASE("a slice stored over its neighbour is two launches", "[launches]") {
  const FixedTarget fixed;
  Tensor x = stored(arange(1000).to(float32));
  x.at({Slice{1, 1000}}) = x.index({Slice{0, 999}});
  const Cost c = cost(x);
  CHECK(c.launches <= 2);
  CHECK(c.bytes <= 4 * 4 * 1000);
  const std::vector<float> got = x.to_vector<float>();
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}, size_t{999}}) CHECK(got[i] == (i ? static_cast<float>(i) - 1 : 0));
}

TEST_CASE("an LSTM cell with gates sliced from one product is two launches", "[launches]") {
  const FixedTarget fixed;
  constexpr int64_t n = 64, hidden = 256;
  Tensor x = stored(randn({n, 512})), w = stored(randn({512, 4 * hidden}) * 0.05), b = stored(randn({4 * hidden}));
  Tensor c0 = stored(randn({n, hidden}));
  const auto cell = [&] {
    const Tensor gates = matmul(x, w) + b;
    const auto gate = [&](int64_t i) { return gates.slice(1, {i * hidden, (i + 1) * hidden}); };
    const Tensor c = sigmoid(gate(1)) * c0 + sigmoid(gate(0)) * tanh(gate(2));
    return std::vector<Tensor>{sigmoid(gate(3)) * tanh(c), c};
  };
  const std::vector<Tensor> state = cell();
  const Cost c = cost_of([&] { realize_all(state); });
  CHECK(c.launches <= 2);
  CHECK(c.bytes <= 4 * (n * 512 + 512 * 4 * hidden + 4 * hidden + 2 * n * 4 * hidden + 3 * n * hidden));
  CHECK(same_when_unfused(cell));
}

TEST_CASE("an LSTM over 64 steps is at most two launches a step", "[launches]") {
  const FixedTarget fixed;
  nn::LSTM lstm(32, 256);
  for (Tensor t : nn::parameters(lstm)) t.realize();
  const Tensor x = stored(randn({64, 64, 32}));
  const no_grad guard;
  const auto [y, state] = lstm(x);
  // Beside them, the product with all inputs, the packed weights, and the outputs side by side.
  CHECK(cost(y, state.first, state.second).launches <= 2 * 64 + 3);
}

TEST_CASE("a chain of a thousand diamonds is ten launches", "[launches]") {
  const FixedTarget fixed;
  constexpr uint64_t once = 4096 * 4;
  Tensor y = stored(full({4096}, 0.5f));
  for (int i = 0; i < 1000; ++i) y = y * 0.5 + abs(y) * 0.5;
  const Cost c = cost(y);
  CHECK(c.launches <= 10);
  CHECK(c.bytes <= 4 * 10 * once);
  CHECK(y.min().item() == 0.5);
  CHECK(y.max().item() == 0.5);
}

TEST_CASE("a stencil of a thousand links is four hundred launches", "[launches]") {
  const FixedTarget fixed;
  constexpr int64_t n = 8192;
  Tensor y = stored(full({n}, 1.0f));
  for (int64_t i = 0; i < 1000; ++i) y = y.slice(0, {0, n - 1 - i}) * 0.5 + y.slice(0, {1, n - i}) * 0.5;
  const Cost c = cost(y);
  CHECK(c.launches <= 400);
  CHECK(c.bytes <= 2 * 4 * n * c.launches);
  CHECK(y.min().item() == 1.0);
  CHECK(y.max().item() == 1.0);
}

namespace {

struct ConvNet {
  nn::Conv2d c1{1, 32, 5}, c2{32, 32, 5}, c3{32, 64, 3}, c4{64, 64, 3};
  nn::Linear out{576, 10};
  SINTER_MODULE(c1, c2, c3, c4, out)
  Tensor operator()(const Tensor& x) const {
    Tensor h = max_pool2d(relu(c2(relu(c1(x)))), 2);
    h = max_pool2d(relu(c4(relu(c3(h)))), 2);
    return out(h.flatten(1));
  }
};

}  // namespace

TEST_CASE("a step of a convolutional net with Adam is 18 launches", "[launches]") {
  const auto [batch, least, megabytes] = GENERATE(std::tuple{16, 0.0, 24}, std::tuple{128, kSmallPrograms, 160});
  INFO("batch " << batch);
  const FixedTarget fixed(least);
  manual_seed(0);
  ConvNet net;
  const std::vector<Tensor> parameters = nn::parameters(net);
  realize_all(parameters);
  optim::Adam opt(parameters, {});
  Tensor x = stored(rand({batch, 1, 28, 28})), y = stored(randint(0, 10, {batch}));
  double first = 0, last = 0;
  for (int i = 0; i < 2; ++i) {
    Tensor loss = cross_entropy(net(x), y);
    loss.backward();
    const Cost c = cost_of([&] { opt.step(); });
    CHECK(c.launches <= 18);
    CHECK(c.bytes <= static_cast<uint64_t>(megabytes) << 20);
    (i == 0 ? first : last) = loss.item();
  }
  CHECK(last < first);
}

TEST_CASE("a transformer block is ten launches, its training step thirty", "[launches]") {
  const FixedTarget fixed;
  manual_seed(0);
  const nn::TransformerEncoderLayer block(256, 4,
                                          {.dim_feedforward = 1024, .dropout = 0, .gelu = true, .norm_first = true});
  const std::vector<Tensor> parameters = nn::parameters(block);
  realize_all(parameters);
  Tensor x = stored(randn({1, 256, 256}));
  {
    const no_grad off;
    const Tensor y = block(x);
    const Cost c = cost(y);
    CHECK(c.launches <= 10);
    CHECK(c.bytes <= 16u << 20);
  }
  optim::SGD opt(parameters, {.lr = 0.01});
  double first = 0, last = 0;
  for (int i = 0; i < 2; ++i) {
    const Tensor y = block(x), loss = (y * y).mean();
    loss.backward();
    const Cost c = cost_of([&] { opt.step(); });
    CHECK(c.launches <= 30);
    CHECK(c.bytes <= 56u << 20);
    (i == 0 ? first : last) = loss.item();
  }
  CHECK(last < first);
}
