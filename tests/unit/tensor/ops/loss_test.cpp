// softmax, normalisation and losses, against values computed by NumPy in float64.
#include <functional>

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
  const LossOptions sum{.reduction = Reduction::Sum};
  CHECK(numbers(mse_loss(x, y, sum)) == numbers(mse_loss(x, y, Reduction::Sum)));
  CHECK(numbers(l1_loss(x, y, sum)) == numbers(l1_loss(x, y, Reduction::Sum)));
  CHECK(numbers(soft_margin_loss(x, y, sum)) == numbers(soft_margin_loss(x, y, Reduction::Sum)));
  CHECK(numbers(binary_cross_entropy_with_logits(x, y, {.reduction = Reduction::Sum})) ==
        numbers(binary_cross_entropy_with_logits(x, y, Reduction::Sum)));
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

TEST_CASE("a class that does not exist is named as it was given", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1.0, 2.0, 3.0}, {0.5, -1.0, 4.0}}), log_p = log_softmax(x, 1);
  const auto text = [](const Tensor& loss) {
    try {
      loss.to_vector<float>();
    } catch (const UsageError& e) { return std::string(e.what()); }
    return std::string();
  };
  for (const int64_t bad : {-1, -7, 3, 12}) {
    const Tensor target = from({int64_t{2}, bad});
    const std::string said = "index " + std::to_string(bad) + " is out of range for 3 elements along axis ";
    INFO(said);
    CHECK_THAT(text(cross_entropy(x, target)),
               Catch::Contains(said + "1 (a class is 0 to 2; ignore_index is -100), in cross_entropy at "));
    CHECK_THAT(text(nll_loss(log_p, target, {.ignore_index = -5, .weight = ones({3})})),
               Catch::Contains(said + "1 (a class is 0 to 2; ignore_index is -5), in nll_loss at "));
    CHECK_THAT(text(cross_entropy(x, target, {.reduction = Reduction::None, .ignore_index = {}})),
               Catch::Contains(said + "1 (a class is 0 to 2), in cross_entropy at "));
    CHECK_THAT(text(multi_margin_loss(x, target)),
               Catch::Contains(said + "1 (a class is 0 to 2), in multi_margin_loss"));
    CHECK_THAT(text(one_hot(target, 3).to(float32)), Catch::Contains(said + "1 (a class is 0 to 2), in one_hot at "));
    CHECK_THAT(text(one_hot(target.reshape({2, 1}), 3).to(float32)), Catch::Contains(said));
    const Tensor steps = log_p.unsqueeze(1).expand({2, 2, 3});
    const Tensor loss = ctc_loss(steps, from({{1}, {bad}}), std::vector<int64_t>{2, 2}, std::vector<int64_t>{1, 1});
    CHECK_THAT(text(loss), Catch::Contains(said + "2 (a class is 0 to 2), in ctc_loss at "));
  }
}

namespace {

/// The loss of each element and its gradient by the first leaf.
struct AtEdge {
  AtEdge(Tensor leaf, const std::function<Tensor(const Tensor&)>& loss) {
    leaf.requires_grad();
    const Tensor value = loss(leaf);
    values = numbers(value);
    slopes = numbers(gradient(value.sum(), {leaf})[0]);
  }
  std::vector<double> values, slopes;
};

}  // namespace

TEST_CASE("losses at their edges are PyTorch's", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Reduction none = Reduction::None;
  const AtEdge binary(from({0.0, 0.0, 1.0, 1.0, 1e-20, 0.5}), [&](const Tensor& x) {
    return binary_cross_entropy(x, from({0.0, 1.0, 0.0, 1.0, 1.0, 0.3}), {.reduction = none});
  });
  CHECK(close(binary.values, {0, 100, 100, 0, 46.051702, 0.6931472}));
  CHECK(close(binary.slopes, {0, -1e12, 1e12, 0, -1e12, 0.8}));
  const Tensor zeros3 = zeros({3});
  const AtEdge smooth(from({0.0, 1.0, -1.0}),
                      [&](const Tensor& x) { return smooth_l1_loss(x, zeros3, {.beta = 0, .reduction = none}); });
  CHECK(smooth.slopes == list({0, 1, -1}));
  const AtEdge hinge(from({1.0, 2.0, 1.0, -3.0}), [&](const Tensor& x) {
    return hinge_embedding_loss(x, from({-1.0, -1.0, 1.0, 0.0}), {.reduction = none});
  });
  CHECK(hinge.values == list({0, 0, 1, 1}));
  CHECK(close(hinge.slopes, {0, 0, 1, 0}));
  const AtEdge ranking(from({1.0, 2.0}), [&](const Tensor& x) {
    return margin_ranking_loss(x, from({1.0, 1.0}), from({1.0, 1.0}), {.reduction = none});
  });
  CHECK(close(ranking.slopes, {0, 0}));
  const AtEdge cosine(zeros({1, 3}), [&](const Tensor& x) {
    return cosine_embedding_loss(x, zeros({1, 3}), from({1}), {.reduction = none});
  });
  CHECK(cosine.values == list({1}));
  CHECK(close(cosine.slopes, {0, 0, 0}));
  for (const auto& [p, slope] :
       std::vector<std::pair<double, double>>{{2, 0.57735026}, {3, 0.48074991}, {0.5, 0}, {INFINITY, 1 / 3.0}}) {
    const AtEdge triplet(zeros({1, 3}), [&, p = p](const Tensor& x) {
      return triplet_margin_loss(x, zeros({1, 3}), ones({1, 3}), {.margin = 2, .p = p, .eps = 0, .reduction = none});
    });
    CHECK(close(triplet.slopes, {slope, slope, slope}));
  }
  const AtEdge partly(from({{0.0, 4.0}}), [&](const Tensor& x) {  // the slope of |0|^0.5 is infinite
    return triplet_margin_loss(x, zeros({1, 2}), full({1, 2}, 9.0),
                               {.margin = 30, .p = 0.5, .eps = 0, .reduction = none});
  });
  CHECK(close(partly.slopes, {1.745356, 3.3416408}));
  const AtEdge divergence(from({0.1, 0.2}),
                          [&](const Tensor& x) { return kl_div(x, from({0.0, 1.0}), {.reduction = none}); });
  CHECK(close(divergence.values, {0, -0.2}));
  CHECK(close(divergence.slopes, {0, -1}));
  CHECK(numbers(soft_margin_loss(from({200.0, -200.0}), from({-1.0, 1.0}), none)) == list({200, 200}));
  const AtEdge variance(
      from({1e-9}), [&](const Tensor& v) { return gaussian_nll_loss(ones({1}), zeros({1}), v, {.reduction = none}); });
  CHECK(close(variance.values, {499993.09375}));
  CHECK(close(variance.slopes, {-499999506432.0}));
  // No target counts.
  CHECK(std::isnan(numbers(cross_entropy(ones({2, 3}), full({2}, -100)))[0]));
  CHECK(std::isnan(numbers(cross_entropy(ones({2, 3}), from({0, 1}), {.weight = from({0.0, 0.0, 1.0})}))[0]));
}

TEST_CASE("ctc_loss: labels that do not fit, lengths of 0, what lies behind lengths", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor logits = from(std::vector<float>{1, 2, 0, 0.5f, -1, 0, 3, 1, 1, 0, 2, -2}, {2, 2, 3});
  const auto losses = [&](const Tensor& labels, const Tensor& steps, const Tensor& lengths, CtcOptions options) {
    options.reduction = Reduction::None;
    return ctc_loss(log_softmax(logits), labels, steps, lengths, options);
  };
  const Tensor labels = from({{1, 1}, {1, 2}}), two = from({2, 2});
  const std::vector<double> infinite = numbers(losses(labels, two, two, {})),
                            zero = numbers(losses(labels, two, two, {.zero_infinity = true}));
  CHECK(std::isinf(infinite[0]));
  CHECK(zero[0] == 0);
  CHECK(std::isfinite(zero[1]));
  CHECK(infinite[1] == zero[1]);
  const AtEdge masked(logits.clone(), [&](const Tensor& x) {
    return ctc_loss(log_softmax(x), labels, two, two, {.reduction = Reduction::None, .zero_infinity = true});
  });
  for (const double slope : masked.slopes) CHECK(std::isfinite(slope));
  CHECK(numbers(losses(labels, from({0, 0}), from({0, 1}), {})) == list({0, INFINITY}));
  CHECK(numbers(losses(from({{1, -7}, {1, 99}}), two, from({1, 1}), {})) ==
        numbers(losses(from({{1}, {1}}), two, from({1, 1}), {})));
  uint32_t error = 0;
  value_of(losses(from({{3}, {1}}), two, from({1, 1}), {}), &error);
  CHECK(error != 0);
}
