// Initial values: formulas, statistics of what is drawn, and writing in place.
#include <cmath>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

Tensor parameter(Shape shape, DType dtype = float32) { return full(shape, 9.0, dtype).clone().requires_grad(); }

/// The standard deviation of what f makes of a weight [300, 40, 5].
template <class F>
double deviation(F f) {
  Tensor w = parameter({300, 40, 5});
  const Tensor same = f(w);
  CHECK(same.cell() == w.cell());
  CHECK(w.needs_grad());
  const no_grad guard;
  return w.std().item();
}

}  // namespace

TEST_CASE("gains are PyTorch's", "[nn]") {
  using enum nn::init::Nonlinearity;
  const auto gain = nn::init::calculate_gain;
  CHECK(gain(Linear, 0.01) == 1);
  CHECK(gain(Sigmoid, 0.01) == 1);
  CHECK(gain(Tanh, 0.01) == Approx(5.0 / 3));
  CHECK(gain(ReLU, 0.01) == Approx(std::sqrt(2.0)));
  CHECK(gain(LeakyReLU, 0.01) == Approx(1.4141428569978354));
  CHECK(gain(LeakyReLU, 0.2) == Approx(1.3867504905630728));
  CHECK(gain(SELU, 0.01) == 0.75);
}

TEST_CASE("forms in place draw as their formulas say", "[nn]") {
  manual_seed(2);
  using namespace nn::init;
  const double in = 200, out = 1500;
  const auto near = [](double value) { return Approx(value).epsilon(0.02); };
  CHECK(deviation([](Tensor w) { return normal_(w, 0.5, 0.25); }) == near(0.25));
  CHECK(deviation([](Tensor w) { return uniform_(w, -1, 2); }) == near(3 / std::sqrt(12.0)));
  CHECK(deviation([](Tensor w) { return xavier_uniform_(w, 2); }) == near(2 * std::sqrt(2 / (in + out))));
  CHECK(deviation([](Tensor w) { return xavier_normal_(w); }) == near(std::sqrt(2 / (in + out))));
  CHECK(deviation([](Tensor w) { return kaiming_uniform_(w); }) == near(std::sqrt(2 / in)));
  CHECK(deviation([](Tensor w) { return kaiming_normal_(w, {.mode = FanMode::Out}); }) == near(std::sqrt(2 / out)));
  CHECK(deviation([](Tensor w) { return kaiming_normal_(w, {.a = 0.5}); }) == near(std::sqrt(2 / 1.25 / in)));
  CHECK(deviation([](Tensor w) { return kaiming_uniform_(w, {.nonlinearity = Nonlinearity::Tanh}); }) ==
        near(5.0 / 3 / std::sqrt(in)));
  CHECK(deviation([](Tensor w) { return trunc_normal_(w, 0, 1, -1, 1); }) == near(0.5396));
  CHECK(kaiming_normal({300, 40, 5}, {.mode = FanMode::Out}).std().item() == near(std::sqrt(2 / out)));
  const double bound = std::sqrt(6 / in);
  CHECK(kaiming_uniform({300, 40, 5}).max().item() <= bound);
  CHECK_THROWS_WITH(kaiming_normal_(parameter({3})), Contains("[3]"));
}

TEST_CASE("initial values in place keep the type, the leaf and its gradient", "[nn]") {
  for (const DType type : {float32, float64, bfloat16}) {
    Tensor w = parameter({4, 4}, type);
    const Tensor before = w.detach();
    nn::init::normal_(w);
    nn::init::zeros_(w);
    CHECK(w.dtype() == type);
    CHECK((w == 0).all().item<bool>());
    CHECK((nn::init::ones_(w) == 1).all().item<bool>());
    CHECK((nn::init::constant_(w, 2.5) == 2.5).all().item<bool>());
    CHECK((nn::init::eye_(w) == eye(4)).all().item<bool>());
    CHECK((before == 9).all().item<bool>());
    (w * 3.0).sum().backward();
    CHECK((w.grad() == 3).all().item<bool>());
  }
  CHECK_THROWS_WITH(nn::init::eye_(parameter({2})), Contains("[2]") && Contains("1 axes"));
  // drawn as the form that takes a shape
  Tensor w = parameter({3, 5});
  manual_seed(4);
  nn::init::xavier_normal_(w, 1.5);
  manual_seed(4);
  CHECK(nn::init::xavier_normal({3, 5}, 1.5).to_vector<float>() == w.to_vector<float>());
}

TEST_CASE("orthogonal weights are orthonormal rows or columns", "[nn][lapack]") {
  manual_seed(3);
  const auto check = [](const Tensor& w, double gain) {
    const no_grad guard;
    const Tensor flat = w.flatten(1);
    const bool wide = flat.size(0).value() < flat.size(1).value();
    const Tensor product = wide ? matmul(flat, flat.transpose()) : matmul(flat.transpose(), flat);
    CHECK(abs(product - eye(product.size(0)) * (gain * gain)).max().item() < 1e-5);
  };
  check(nn::init::orthogonal({6, 3}), 1);
  check(nn::init::orthogonal({3, 2, 4}, 2), 2);
  Tensor w = parameter({5, 5});
  check(nn::init::orthogonal_(w, std::sqrt(2.0)), std::sqrt(2.0));
  CHECK(w.needs_grad());
  CHECK_THROWS_WITH(nn::init::orthogonal({3}), Contains("[3]"));
}

TEST_CASE("dirac weights pass channels through", "[nn]") {
  const Tensor x = randn({1, 3, 5, 6});
  Tensor w = parameter({4, 3, 3, 5});
  nn::init::dirac_(w);
  const no_grad guard;
  const Tensor y = conv2d(x, w, {}, {.padding = {1, 2}});
  CHECK((y.slice(1, {0, 3}) == x).all().item<bool>());
  CHECK((y.slice(1, {3}) == 0).all().item<bool>());
  // torch.nn.init.dirac_(torch.empty(4, 2, 3), groups=2)
  CHECK(nn::init::dirac({4, 2, 3}, 2).to_vector<float>() ==
        std::vector<float>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0});
  CHECK_THROWS_WITH(nn::init::dirac({4, 4}), Contains("[4, 4]"));
  CHECK_THROWS_WITH(nn::init::dirac({4, 2, 3}, 3), Contains("3 groups"));
}
