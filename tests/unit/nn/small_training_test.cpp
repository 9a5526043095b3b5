// Small networks that must learn: XOR and linear regression.
#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

TEST_CASE("an MLP learns XOR", "[nn]") {
  manual_seed(7);
  nn::Sequential net(nn::Linear(2, 8), nn::ReLU(), nn::Linear(8, 1));
  Tensor x = from(std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}), y = from(std::vector<float>{0, 1, 1, 0}, {4, 1});
  optim::Adam opt(nn::parameters(net), {.lr = 0.05});
  double loss_value = 1;
  for (int i = 0; i < 200; ++i) {
    Tensor loss = mse_loss(net(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    loss_value = loss.item();
  }
  CHECK(loss_value < 1e-3);
  std::vector<float> p = net(x).to_vector<float>();
  CHECK((p[0] < 0.2f && p[1] > 0.8f && p[2] > 0.8f && p[3] < 0.2f));
}

TEST_CASE("linear regression finds the line", "[nn]") {
  manual_seed(2);
  Tensor x = randn({256, 3}), w = from(std::vector<float>{1.5f, -2.0f, 0.25f}, {3, 1});
  Tensor y = (matmul(x, w) + 0.75 + randn({256, 1}) * 0.01).contiguous().realize();
  nn::Linear fit(3, 1);
  optim::SGD opt(nn::parameters(fit), {.lr = 0.1, .momentum = 0.5});
  for (int i = 0; i < 100; ++i) {
    Tensor loss = mse_loss(fit(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::vector<float> got = fit.weight.to_vector<float>(), want = w.to_vector<float>();
  for (size_t i = 0; i < 3; ++i) CHECK(got[i] == Approx(want[i]).margin(0.01));
  CHECK(fit.bias.item() == Approx(0.75).margin(0.01));
}
