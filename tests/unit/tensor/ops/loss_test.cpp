// softmax, normalisation and losses, against values computed by NumPy in float64.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
}

TEST_CASE("softmax and its kin", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({{1.0, 2.0, 3.0}, {-1.0, 0.0, 4.0}}, float64);
  const std::vector<double> soft = {0.09003057317038046,  0.24472847105479764, 0.6652409557748218,
                                    0.006573263185309083, 0.0178679818703045,  0.9755587549443865};
  const std::vector<double> logs = {-2.4076059644443806, -1.4076059644443804, -0.4076059644443804,
                                    -5.024744890138822,  -4.024744890138822,  -0.02474489013882259};
  CHECK(close(numbers(softmax(x)), soft, 1e-14));
  CHECK(close(numbers(softmax(x.transpose(), 0)), numbers(softmax(x).transpose()), 1e-14));
  CHECK(close(numbers(log_softmax(x)), logs, 1e-14));
  CHECK(close(numbers(logsumexp(x, 1)), {3.40760596444438, 4.024744890138822}, 1e-14));
  CHECK(close(numbers(logsumexp(x)), {4.456193316018123}, 1e-14));
  CHECK(logsumexp(x, 1, true).shape() == Shape{2, 1});
  // Far from zero, where e^x alone overflows.
  CHECK(close(numbers(softmax(x + 1000.0)), soft, 1e-12));
  CHECK(close(numbers(softmax(x - 1000.0)), soft, 1e-12));
  CHECK(close(numbers(logsumexp(from({1000.0, 1000.0}, float64))), {1000 + std::log(2)}, 1e-14));
  CHECK(numbers(logsumexp(from({-kInf, -kInf}))) == list({-kInf}));
  CHECK(numbers(logsumexp(from({kInf, 1.0}))) == list({kInf}));
  CHECK(numbers(softmax(from({-kInf, 0.0}))) == list({0, 1}));
  CHECK(softmax(from({1, 2})).dtype() == float32);
}

TEST_CASE("layer normalisation", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({{1.0, 2.0, 3.0}, {-1.0, 0.0, 4.0}}, float64);
  const std::vector<double> plain = {
      -1.2247356859083902, 0.0, 1.2247356859083902, -0.9258191078240388, -0.4629095539120194, 1.3887286617360581};
  CHECK(close(numbers(layer_norm(x, {3})), plain, 1e-12));
  std::vector<double> affine;
  for (size_t i = 0; i < 6; ++i) affine.push_back(plain[i] * static_cast<double>(i % 3 + 1) + 0.5);
  CHECK(close(numbers(layer_norm(x, {3}, from({1.0, 2.0, 3.0}), full({3}, 0.5))), affine, 1e-12));
  CHECK(std::abs(numbers(layer_norm(x, {2, 3}).mean())[0]) < 1e-12);
  CHECK(layer_norm(x.to(float32), {3}).dtype() == float32);
}

TEST_CASE("losses", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({{1.0, 2.0, 3.0}, {-1.0, 0.0, 4.0}}, float64), target = from({2, 0});
  CHECK(close(numbers(cross_entropy(x, target)), {2.7161754272916014}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, target, {.reduction = Reduction::Sum})), {5.432350854583203}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, target, {.reduction = Reduction::None})),
              {0.4076059644443804, 5.024744890138822}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, from({2, -100}))), {0.4076059644443804}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, from({2, 7}), {.ignore_index = 7})), {0.4076059644443804}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, from({2, 0}), {.ignore_index = 0})), {0.4076059644443804}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, target, {.ignore_index = {}})), {2.7161754272916014}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, target.to(int32), {.ignore_index = int64_t{1} << 32})), {2.7161754272916014},
              1e-14));
  CHECK(
      close(numbers(cross_entropy(x, from({{0.2, 0.3, 0.5}, {0.1, 0.6, 0.3}}, float64))), {2.0161754272916013}, 1e-14));
  CHECK(close(numbers(cross_entropy(x, one_hot(target, 3).to(float64))), {2.7161754272916014}, 1e-14));
  CHECK(close(numbers(cross_entropy(x[0], Tensor(2))), {0.4076059644443804}, 1e-14));
  CHECK(close(numbers(nll_loss(log_softmax(x), target)), {2.7161754272916014}, 1e-14));
  CHECK(close(numbers(cross_entropy(x + 800.0, target)), {2.7161754272916014}, 1e-12));
  // Classes along axis 1, further axes behind it.
  Tensor images = x.reshape({1, 2, 3}).transpose();
  CHECK(close(numbers(cross_entropy(images, target.reshape({1, 2}))), {2.7161754272916014}, 1e-14));
  Tensor y = from({{0.0, 1.0, 1.0}, {0.5, 0.0, 1.0}}, float64);
  CHECK(close(numbers(mse_loss(x, y)), {2.875}, 1e-14));
  CHECK(close(numbers(l1_loss(x, y)), {1.4166666666666667}, 1e-14));
  CHECK(close(numbers(binary_cross_entropy_with_logits(x, y)), {0.5022226410218192}, 1e-14));
  CHECK(numbers(binary_cross_entropy_with_logits(from({1000.0, -1000.0}), from({1.0, 0.0}))) == list({0}));
  const Tensor sure =
      binary_cross_entropy_with_logits(from({-20.0, 20.0, 20.0, -90.0}), from({0.0, 1.0, 0.0, 0.0}), Reduction::None);
  for (const std::vector<double>& got : {numbers(sure), numbers(sure.to(float64).realize())}) {
    CHECK(got[0] == Approx(2.0611536e-9).epsilon(1e-6));
    CHECK(got[1] == Approx(2.0611536e-9).epsilon(1e-6));
    CHECK(got[2] == Approx(20).epsilon(1e-6));
    CHECK(got[3] == Approx(std::exp(-90.0)).epsilon(1e-4));
  }
  CHECK(numbers(mse_loss(from({1, 2}), from({2, 4}), Reduction::Sum)) == list({5}));
  CHECK(mse_loss(x, y, Reduction::None).shape() == Shape{2, 3});
}

TEST_CASE("a class that does not exist is an index out of range", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = from({{1.0, 2.0, 3.0}, {0.5, -1.0, 4.0}}, float64);
  const std::optional<int64_t> none;
  for (int64_t bad : {-1, -3, 3, -100}) {
    Tensor loss = cross_entropy(x, from({int64_t{2}, bad}), {.ignore_index = none});
    uint32_t error = 0;
    value_of(loss, &error);
    CHECK(error != 0);
    CHECK_THROWS_AS(loss.item(), UsageError);
  }
  const Var n("classes", 1, 8);
  Tensor symbolic = from(std::vector<double>{1, 2, 3}, {n(3)});
  CHECK(close(numbers(cross_entropy(symbolic, Tensor(2))), {0.4076059644443804}, 1e-14));
  CHECK_THROWS_AS(cross_entropy(symbolic, Tensor(3)).item(), UsageError);
  CHECK_THROWS_AS(cross_entropy(symbolic, Tensor(-1)).item(), UsageError);
}
