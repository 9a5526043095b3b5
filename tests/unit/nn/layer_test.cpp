// Layers without weights: each gives what its function gives, with the options that it holds.
#include "sinter/nn/activation_layers.h"
#include "sinter/nn/dropout_layers.h"
#include "sinter/nn/layers.h"
#include "sinter/nn/loss_layers.h"
#include "sinter/nn/spatial.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Contains;

namespace {

const auto equals = [](const Tensor& got, const Tensor& want) { return same(numbers(got), numbers(want)); };

/// A model with a loss that holds weights.
struct Judged {
  nn::PReLU act{2};
  nn::CrossEntropyLoss loss{{.weight = from({1.0, 3.0})}};
  nn::BCEWithLogitsLoss answer{{.pos_weight = from({2.0})}};
  nn::AlphaDropout drop;
  SINTER_MODULE(act, loss, answer, drop)
};

}  // namespace

TEST_CASE("layers of activations call their functions", "[nn]") {
  const Tensor x = from({{-2.0, -0.5, 0.25, 3.0}, {0.5, -4.0, 1.0, 7.0}});
  CHECK(equals(nn::Identity()(x), x));
  CHECK(equals(nn::Sigmoid()(x), sigmoid(x)));
  CHECK(equals(nn::Tanh()(x), tanh(x)));
  CHECK(equals(nn::SiLU()(x), silu(x)));
  CHECK(equals(nn::SELU()(x), selu(x)));
  CHECK(equals(nn::ReLU6()(x), relu6(x)));
  CHECK(equals(nn::Softsign()(x), softsign(x)));
  CHECK(equals(nn::Mish()(x), mish(x)));
  CHECK(equals(nn::LogSigmoid()(x), logsigmoid(x)));
  CHECK(equals(nn::Tanhshrink()(x), tanhshrink(x)));
  CHECK(equals(nn::Hardsigmoid()(x), hardsigmoid(x)));
  CHECK(equals(nn::Hardswish()(x), hardswish(x)));
  CHECK(equals(nn::GELU(Gelu::Tanh)(x), gelu(x, Gelu::Tanh)));
  CHECK(equals(nn::LeakyReLU(0.2)(x), leaky_relu(x, 0.2)));
  CHECK(equals(nn::ELU(0.5)(x), elu(x, 0.5)));
  CHECK(equals(nn::CELU(0.5)(x), celu(x, 0.5)));
  CHECK(equals(nn::Hardtanh(-1, 2)(x), hardtanh(x, -1, 2)));
  CHECK(equals(nn::Threshold(0.1, 20)(x), threshold(x, 0.1, 20)));
  CHECK(equals(nn::Softplus(2, 3)(x), softplus(x, 2, 3)));
  CHECK(equals(nn::Hardshrink(1)(x), hardshrink(x, 1)));
  CHECK(equals(nn::Softshrink(1)(x), softshrink(x, 1)));
  CHECK(equals(nn::GLU()(x), glu(x)));
  CHECK(equals(nn::Softmax(0)(x), softmax(x, 0)));
  CHECK(equals(nn::LogSoftmax()(x), log_softmax(x)));
  CHECK(equals(nn::Softmin()(x), softmin(x)));
  CHECK(equals(nn::PReLU()(x), prelu(x, from({0.25}))));
  CHECK(equals(nn::Softmax2d()(x.reshape({2, 2, 2})), softmax(x.reshape({2, 2, 2}), 0)));
  nn::RReLU random(0.5, 0.5);
  CHECK(equals(random(x), rrelu(x, 0.5, 0.5)));
  nn::eval(random);
  CHECK(equals(random(x), leaky_relu(x, 0.5)));
  CHECK_THROWS_AS(nn::Softmax2d()(x), UsageError);
  CHECK_THROWS_AS(nn::PReLU(3)(x), UsageError);
}

TEST_CASE("layers of losses call their functions", "[nn]") {
  const Tensor x = from({{-2.0, -0.5}, {0.5, 0.25}}), y = from({{0.5, 0.0}, {1.0, 0.75}}), p = sigmoid(x);
  const Tensor classes = from({0, 1}), sign = from({{1, -1}, {-1, 1}}), w = from({1.0, 3.0});
  const Reduction none = Reduction::None;
  CHECK(equals(nn::CrossEntropyLoss({.weight = w})(x, classes), cross_entropy(x, classes, {.weight = w})));
  CHECK(equals(nn::NLLLoss({.reduction = none})(x, classes), nll_loss(x, classes, {.reduction = none})));
  CHECK(equals(nn::MultiMarginLoss({.p = 2})(x, classes), multi_margin_loss(x, classes, {.p = 2})));
  CHECK(equals(nn::MultiLabelSoftMarginLoss()(x, y), multilabel_soft_margin_loss(x, y)));
  CHECK(equals(nn::BCELoss()(p, y), binary_cross_entropy(p, y)));
  CHECK(equals(nn::BCEWithLogitsLoss({.pos_weight = w})(x, y),
               binary_cross_entropy_with_logits(x, y, {.pos_weight = w})));
  CHECK(equals(nn::MSELoss(none)(x, y), mse_loss(x, y, none)));
  CHECK(equals(nn::MSELoss({.reduction = none})(x, y), mse_loss(x, y, {.reduction = none})));
  CHECK(equals(nn::L1Loss()(x, y), l1_loss(x, y)));
  CHECK(equals(nn::SoftMarginLoss()(x, sign), soft_margin_loss(x, sign)));
  CHECK(equals(nn::SmoothL1Loss({.beta = 2})(x, y), smooth_l1_loss(x, y, {.beta = 2})));
  CHECK(equals(nn::HuberLoss({.delta = 0.5})(x, y), huber_loss(x, y, {.delta = 0.5})));
  CHECK(equals(nn::PoissonNLLLoss({.full = true})(x, y), poisson_nll_loss(x, y, {.full = true})));
  CHECK(equals(nn::GaussianNLLLoss()(x, y, p), gaussian_nll_loss(x, y, p)));
  CHECK(equals(nn::KLDivLoss({.batchmean = true})(x, y), kl_div(x, y, {.batchmean = true})));
  CHECK(equals(nn::HingeEmbeddingLoss()(x, sign), hinge_embedding_loss(x, sign)));
  CHECK(equals(nn::MarginRankingLoss({.margin = 1})(x, y, sign), margin_ranking_loss(x, y, sign, {.margin = 1})));
  CHECK(equals(nn::CosineEmbeddingLoss()(x, y, sign[0]), cosine_embedding_loss(x, y, sign[0])));
  CHECK(equals(nn::TripletMarginLoss({.p = 1})(x, y, p), triplet_margin_loss(x, y, p, {.p = 1})));
  const Tensor speech = log_softmax(x.expand({4, 2, 2}));
  CHECK(equals(nn::CTCLoss({.blank = 1})(speech, from({{0}, {0}}), {4, 3}, {1, 1}),
               ctc_loss(speech, from({{0}, {0}}), from({4, 3}), from({1, 1}), {.blank = 1})));
}

TEST_CASE("weights of losses are in the state_dict and follow the model", "[nn]") {
  Judged model;
  std::vector<std::string> names;
  for (const auto& [name, t] : nn::state_dict(model)) names.push_back(name);
  CHECK(names == std::vector<std::string>{"act.weight", "loss.weight", "answer.pos_weight"});
  CHECK(nn::parameters(model).size() == 1);
  const Judged copy = nn::clone(model);
  CHECK(copy.loss.options.weight.cell() != model.loss.options.weight.cell());
  CHECK(equals(copy.loss.options.weight, from({1.0, 3.0})));
  nn::eval(model);
  CHECK_FALSE(model.drop.training);
  CHECK(equals(model.drop(from({1.0, 2.0})), from({1.0, 2.0})));
}

TEST_CASE("layers of dropout drop in training alone", "[nn]") {
  manual_seed(3);
  const Tensor x = ones({6, 5, 2, 2, 2});
  nn::Dropout3d three(0.5);
  const Tensor y = three(x);
  CHECK(equals(y.max({2, 3, 4}), y.min({2, 3, 4})));
  CHECK_FALSE(equals(y, x));
  nn::Dropout1d one(0.5);
  nn::Dropout2d two(0.5);
  nn::FeatureAlphaDropout feature(0.5);
  CHECK_FALSE(equals(one(x[0][0]), x[0][0]));
  CHECK_FALSE(equals(two(x[0]), x[0]));
  CHECK_FALSE(equals(feature(x), x));
  nn::eval(one), nn::eval(two), nn::eval(three), nn::eval(feature);
  CHECK(equals(three(x), x));
  CHECK(equals(one(x[0][0]), x[0][0]));
  CHECK(equals(two(x[0]), x[0]));
  CHECK(equals(feature(x), x));
  CHECK_THROWS_AS(nn::Dropout2d(1.5), UsageError);
}

TEST_CASE("layers of shapes and distances call their functions", "[nn]") {
  const Tensor x = arange(24, float32).reshape({2, 3, 4}), y = flip(x, {1});
  CHECK(nn::Flatten()(x).shape() == Shape{2, 12});
  CHECK(nn::Flatten(0, 1)(x).shape() == Shape{6, 4});
  CHECK(equals(nn::Flatten(0, -1)(x), x.flatten()));
  CHECK(equals(nn::Unflatten(1, {1, 3})(x), x.unflatten(1, {1, 3})));
  CHECK(nn::Unflatten(-1, {2, -1})(x).shape() == Shape{2, 3, 2, 2});
  CHECK(equals(nn::CosineSimilarity(2, 1e-4)(x, y), cosine_similarity(x, y, 2, 1e-4)));
  CHECK(equals(nn::PairwiseDistance(1, 0.5, true)(x, y), pairwise_distance(x, y, 1, 0.5, true)));
  nn::Sequential<> net({nn::Linear(4, 6), nn::Unflatten(1, {2, 3}), nn::Flatten()});
  CHECK(net(ones({5, 4})).shape() == Shape{5, 6});
  CHECK_THROWS_WITH(nn::Unflatten(1, {2, 2})(x), Contains("Unflatten") && Contains("3"));
  CHECK_THROWS_WITH(nn::Flatten(3)(x), Contains("Flatten") && Contains("axis 3"));
  CHECK_THROWS_WITH(nn::CosineSimilarity()(x, ones({2, 2, 4})), Contains("CosineSimilarity") && Contains("[2, 2, 4]"));
}

TEST_CASE("pooling layers say where they found their elements", "[nn]") {
  const Tensor x = from({1.0, 5.0, 2.0, 3.0, 3.0, 0.0}).reshape({1, 1, 6});
  const auto [values, places] = nn::MaxPool1d(2).forward_with_indices(x);
  CHECK(same(numbers(values), {5, 3, 3}));
  CHECK(same(numbers(places), {1, 3, 4}));
  CHECK(same(numbers(nn::MaxUnpool1d(2)(values, places)), {0, 5, 0, 3, 3, 0}));
  const Tensor image = arange(16, float32).reshape({1, 4, 4});
  CHECK(same(numbers(nn::MaxPool2d(2, {.stride = 1}).forward_with_indices(image).second),
             numbers(max_pool2d_with_indices(image, 2, {.stride = 1}).second)));
  CHECK(same(numbers(nn::AdaptiveMaxPool2d(2).forward_with_indices(image).second), {5, 7, 13, 15}));
}
