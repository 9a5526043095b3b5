// Steps of training: 784-128-10 with SGD, and a convolutional net with Adam, on a batch that stays the same.
#include "networks/digits.h"
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// Parameters that every worker can make: parameter i is uniform(.., 10 + i) / 10.
template <class Model>
void set_parameters(Model& model) {
  sn::no_grad guard;
  uint32_t seed = 10;
  for (sn::Tensor& p : sn::nn::parameters(model)) p.assign(input(p.shape(), seed++) * 0.1);
}

/// A model, its optimiser and a batch. The forward pass is under autocast to the type; float32 is none.
template <class Model>
struct Training {
  explicit Training(sn::DType type) : type(type) {}
  sn::DType type;
  Model model;
  typename Model::Optimizer optimizer{sn::nn::parameters(model)};
  sn::Tensor x = input({Model::kBatch, 784}, 1), y = sn::from(labels(Model::kBatch, 10));

  sn::Tensor forward() const {
    const sn::autocast scope(type);
    return cross_entropy(model(x), y);
  }
  sn::Tensor step() {
    sn::Tensor loss = forward();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss;
  }
  std::vector<double> losses(int steps) {
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) losses.push_back(step().item());
    return losses;
  }
};

template <class Model>
std::vector<double> train(sn::DType type, int steps) {
  return Training<Model>(type).losses(steps);
}

template <class Model>
BenchCase training_step(sn::DType type) {
  auto training = std::make_shared<Training<Model>>(type);
  set_parameters(training->model);
  return {.run =
              [=] {
                training->step();
                finish();
              },
          .check = [=] { return training->losses(kCheckedSteps); }};
}

/// step:mlp and step:conv.
const CaseFamily kStep = {.make =
                              [](const Arguments& a) {
                                const sn::DType type = sn::dtype_named(a.type);
                                return a.text(1) == "mlp" ? training_step<Mlp>(type) : training_step<ConvNet>(type);
                              },
                          .train =
                              [](const Arguments& a, int steps) {
                                const sn::DType type = sn::dtype_named(a.type);
                                return a.text(1) == "mlp" ? train<Mlp>(type, steps) : train<ConvNet>(type, steps);
                              },
                          .narrow = true};

/// forward:mlp:BATCH, from call to result; forward:jit:BATCH, the same under jit().
BenchCase forward(const Arguments& arguments) {
  auto model = std::make_shared<Mlp>();
  set_parameters(*model);
  const sn::Tensor x = input({arguments.sizes(2).at(0), 784}, 1);
  const auto call = [model](const sn::Tensor& x) {
    sn::no_grad guard;
    return (*model)(x);
  };
  if (arguments.text(1) != "jit") return evaluate([=] { return call(x); });
  auto jitted = std::make_shared<decltype(sn::jit(call))>(sn::jit(call));
  return evaluate([=] { return (*jitted)(x); });
}

}  // namespace

std::map<std::string, CaseFamily> trainings() { return {{"step", kStep}, {"forward", {forward}}}; }

}  // namespace bench
