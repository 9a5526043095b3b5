// Networks of equal steps or layers take as many bodies as a few of them do: what is computed before and behind one
// decides neither the order of its operands nor the numbers of its buffers.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "on_cpu.h"
#include "schedule/schedule.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

/// The kernels of the plans since.
class Bodies final : public schedule::ScheduleObserver {
 public:
  void after_schedule(const schedule::PlanGraph&, const schedule::Partition&, const schedule::KernelSchedule& made,
                      schedule::Policy) override {
    count += made.kernels.size();
  }

  size_t count = 0;
};

/// The bodies of a step of training.
template <class Model>
size_t bodies_of(const Model& model, const std::function<Tensor()>& loss) {
  std::vector<Tensor> parameters = nn::parameters(model);
  realize_all(parameters);
  optim::Adam optimizer(parameters, {.lr = 1e-3});
  Bodies bodies;
  Tensor value = loss();
  value.backward();
  optimizer.step();
  value.item();
  return bodies.count;
}

struct Chain {
  std::vector<nn::Linear> layers;
  SINTER_MODULE(layers)
  Tensor operator()(Tensor x) const {
    for (const nn::Linear& layer : layers) x = tanh(layer(x));
    return x;
  }
};

struct Network {
  const char* name;
  int few, many;
  std::function<size_t(int)> bodies;
};

size_t recurrent(auto model, int steps) {
  const Tensor x = randn({steps, 32, 64}).realize();
  return bodies_of(model, [&] { return model(x).first.square().mean(); });
}

size_t transformer(int layers, bool norm_first) {
  const nn::TransformerEncoderLayer layer(32, 2, {.dim_feedforward = 64, .dropout = 0, .norm_first = norm_first});
  const nn::TransformerEncoder model(layer, layers);
  const Tensor x = randn({2, 16, 32}).realize();
  return bodies_of(model, [&] { return model(x).square().mean(); });
}

size_t chain(int layers) {
  Chain model;
  for (int i = 0; i < layers; ++i) model.layers.emplace_back(32, 32);
  const Tensor x = randn({16, 32}).realize();
  return bodies_of(model, [&] { return model(x).square().mean(); });
}

}  // namespace

TEST_CASE("equal steps and layers share their bodies, forward and backward", "[schedule][nn]") {
  const OnCpu cpu;
  const std::array networks = {
      Network{"LSTM", 4, 16, [](int n) { return recurrent(nn::LSTM(64, 128), n); }},
      Network{"GRU", 4, 16, [](int n) { return recurrent(nn::GRU(64, 128), n); }},
      Network{"transformer", 2, 6, [](int n) { return transformer(n, false); }},
      Network{"transformer, norm first", 2, 6, [](int n) { return transformer(n, true); }},
      Network{"linear layers", 3, 12, [](int n) { return chain(n); }},
  };
  for (const Network& network : networks) {
    const size_t few = network.bodies(network.few), many = network.bodies(network.many);
    INFO(network.name << ": " << few << " bodies of " << network.few << ", " << many << " of " << network.many);
    CHECK(many <= few + 6);  // of recurrent networks, two of them pack weights, which few steps do not share
  }
}

TEST_CASE("the gradient of the last of many joined tensors reads none of the others'", "[schedule][gradient]") {
  const OnCpu cpu;
  std::vector<Tensor> parts;
  for (int i = 0; i < 24; ++i) parts.push_back(randn({4, 8}).realize().requires_grad());
  const Tensor weights = randn({96, 8}).realize();
  (cat(parts, 0) * weights).sum().backward();
  std::vector<Tensor> gradients;
  for (const Tensor& p : parts) gradients.push_back(p.grad());
  Bodies bodies;
  realize_all(gradients);
  CHECK(bodies.count <= 2);
  for (int64_t i = 0; i < 24; ++i)
    CHECK(gradients[static_cast<size_t>(i)].to_vector<float>() ==
          weights.slice(0, {4 * i, 4 * i + 4}).to_vector<float>());
}
