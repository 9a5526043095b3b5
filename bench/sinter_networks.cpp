// Networks as people write them: steps of training and inference, on a batch that stays the same.
#include "networks/blocks.h"
#include "networks/gpt.h"
#include "networks/lstm.h"
#include "networks/mixer.h"
#include "networks/mobilenet.h"
#include "networks/parameters.h"
#include "networks/resnet.h"
#include "networks/transformer.h"
#include "networks/unet.h"
#include "networks/vae.h"
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

struct Batch {
  sn::Tensor x, y;
};

/// Images and a class for each.
Batch classes(int64_t n) { return {input({n, 3, 32, 32}, 1), sn::from(labels(n, 10))}; }
/// Features at positions, and a class for each element.
Batch features(int64_t n) {
  return {input({n, Blocks<false>::kPositions, Blocks<false>::kSize}, 1), sn::from(labels(n, 10))};
}
/// Images and a class for each pixel.
Batch pixels(int64_t n) { return {input({n, 3, 64, 64}, 1), sn::from(labels(n * 64 * 64, 10), {n, 64, 64})}; }
/// Images without classes.
Batch digits(int64_t n) { return {(input({n, 1, 28, 28}, 1) + 0.5).realize(), {}}; }
/// Text, and for each token the one that follows.
template <class Model>
Batch text(int64_t n) {
  const int64_t positions = Model::kPositions;
  const sn::Tensor all = sn::from(labels(n * (positions + 1), Model::kTokens), {n, positions + 1});
  Batch batch{all.slice(1, {0, positions}).contiguous(), all.slice(1, {1, sn::SliceEnd()}).contiguous()};
  realize(batch.x, batch.y);
  return batch;
}

/// Of the classes, which are the second axis.
template <class Model>
sn::Tensor class_loss(const Model& model, const Batch& batch) {
  return cross_entropy(model(batch.x), batch.y);
}
template <class Model>
sn::Tensor token_loss(const Model& model, const Batch& batch) {
  return cross_entropy(model(batch.x).flatten(0, 1), batch.y.flatten());
}

/// How a network is trained: at rates so low that the losses of two libraries, whose rounding differs, stay together.
template <class Model, class Optimizer>
struct Recipe {
  typename Optimizer::Options options;
  Batch (*batch)(int64_t n);
  sn::Tensor (*loss)(const Model& model, const Batch& batch);
  bool draws = false;  ///< random numbers, in training: steps are compared in eval mode, where there are none
};

/// Under autocast to the type; float32 is none.
template <class Model, class Optimizer>
struct Training {
  Training(const Recipe<Model, Optimizer>& recipe, int64_t n, sn::DType type)
      : optimizer(sn::nn::parameters(model), recipe.options), batch(recipe.batch(n)), loss(recipe.loss), type(type) {}
  sn::Tensor forward() const {
    const sn::autocast scope(type);
    return loss(model, batch);
  }
  sn::Tensor step() {
    sn::Tensor value = forward();
    optimizer.zero_grad();
    value.backward();
    optimizer.step();
    return value;
  }
  std::vector<double> losses(int steps) {
    std::vector<double> values;
    for (int i = 0; i < steps; ++i) values.push_back(step().item());
    return values;
  }
  Model model;
  Optimizer optimizer;
  Batch batch;
  sn::Tensor (*loss)(const Model&, const Batch&);
  sn::DType type;
};

template <class Model, class Optimizer>
BenchCase train(const Recipe<Model, Optimizer>& recipe, int64_t n, sn::DType type) {
  auto training = std::make_shared<Training<Model, Optimizer>>(recipe, n, type);
  set_parameters(training->model);
  return {.run =
              [=] {
                training->step();
                finish();
              },
          .check =
              [=] {
                sn::nn::train(training->model, !recipe.draws);
                const std::vector<double> losses = training->losses(kCheckedSteps);
                sn::nn::train(training->model);
                return losses;
              }};
}

template <class Model, class Optimizer>
BenchCase infer(const Recipe<Model, Optimizer>& recipe, int64_t n) {
  auto model = std::make_shared<Model>();
  set_parameters(*model);
  sn::nn::eval(*model);
  const auto call = [model](const sn::Tensor& x) {
    sn::no_grad guard;
    return (*model)(x);
  };
  auto jitted = std::make_shared<decltype(sn::jit(call))>(sn::jit(call));
  return evaluate([jitted, x = recipe.batch(n).x] { return (*jitted)(x); });
}

/// What can be done with a network.
struct Network {
  std::function<BenchCase(int64_t n, sn::DType type)> train;
  std::function<BenchCase(int64_t n)> infer;
  std::function<std::vector<double>(int64_t n, sn::DType type, int steps)> losses;
};

template <class Model, class Optimizer>
Network network(const Recipe<Model, Optimizer>& recipe) {
  return {.train = [=](int64_t n, sn::DType type) { return train(recipe, n, type); },
          .infer = [=](int64_t n) { return infer(recipe, n); },
          .losses = [=](int64_t n, sn::DType type,
                        int steps) { return Training<Model, Optimizer>(recipe, n, type).losses(steps); }};
}

const Network& find(const std::string& name) {
  using sn::optim::Adam, sn::optim::AdamW, sn::optim::SGD;
  static const std::map<std::string, Network> networks = {
      {"resnet18", network<ResNet18, SGD>({{.lr = 1e-3, .momentum = 0.9}, classes, class_loss})},
      {"mobilenet", network<MobileNetV2, SGD>({{.lr = 1e-3, .momentum = 0.9}, classes, class_loss})},
      {"unet", network<UNet, Adam>({{.lr = 1e-4}, pixels, class_loss})},
      {"gpt", network<Gpt, AdamW>({{}, text<Gpt>, token_loss, true})},
      {"transformer", network<Transformer, AdamW>({{.lr = 1e-4}, text<Transformer>, token_loss})},
      {"blocks", network<Blocks<false>, AdamW>({{.lr = 1e-4}, features, class_loss})},
      {"blocks-checkpoint", network<Blocks<true>, AdamW>({{.lr = 1e-4}, features, class_loss})},
      {"lstm", network<LstmModel, Adam>({{}, text<LstmModel>, token_loss})},
      {"lstm-layer", network<LstmLayerModel, Adam>({{}, text<LstmLayerModel>, token_loss})},
      {"vae", network<Vae, Adam>({{}, digits, [](const Vae& vae, const Batch& b) { return vae.loss(b.x); }, true})},
      {"mixer", network<Mixer, Adam>({{}, classes, class_loss})},
  };
  const auto found = networks.find(name);
  if (found == networks.end()) throw std::invalid_argument("unknown case");
  return found->second;
}

/// train:NETWORK:BATCH; in a 16-bit type, under autocast.
const CaseFamily kTrain = {
    .make = [](const Arguments& a) { return find(a.text(1)).train(a.sizes(2).at(0), sn::dtype_named(a.type)); },
    .train = [](const Arguments& a,
                int steps) { return find(a.text(1)).losses(a.sizes(2).at(0), sn::dtype_named(a.type), steps); },
    .narrow = true};

/// infer:NETWORK:BATCH, in eval mode and under jit().
const CaseFamily kInfer = {.make = [](const Arguments& a) { return find(a.text(1)).infer(a.sizes(2).at(0)); }};

}  // namespace

std::map<std::string, CaseFamily> networks() { return {{"train", kTrain}, {"infer", kInfer}}; }

}  // namespace bench
