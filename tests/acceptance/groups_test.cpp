// Launches that hold several independent kernels.
#include "catch.h"
#include "cost.h"
#include "fixed_target.h"
#include "sinter/nn/optim_rules.h"

using namespace sinter;

TEST_CASE("independent values of different shapes are one launch", "[launches]") {
  const FixedTarget fixed;
  Tensor a = stored(rand({37, 5})), b = stored(rand({37, 5})), c = stored(rand({100})), d = stored(rand({100}));
  Tensor sum = a + b, product = c * d, total = (a * 2.0).sum(0);
  CHECK(cost(sum, product, total).launches == 1);
  for (int64_t i : {0, 36}) CHECK(sum[i][4].item() == static_cast<float>(a[i][4].item() + b[i][4].item()));
  for (int64_t i : {0, 63, 99}) CHECK(product[i].item() == static_cast<float>(c[i].item() * d[i].item()));
  CHECK(total.sum().item() == Approx(2 * a.sum().item()).epsilon(1e-5));
}

TEST_CASE("Adam over a hundred tensors is at most two launches", "[launches]") {
  const FixedTarget fixed;
  for (const bool equal : {true, false}) {
    std::vector<Tensor> parameters;
    Tensor loss = zeros({});
    for (int64_t i = 0; i < 100; ++i) {
      const Shape shape = equal ? Shape{512, 512} : Shape{3 + i, 7 + i % 13};
      parameters.push_back(full(shape, 1.0f).contiguous().realize().requires_grad());
      loss = loss + (parameters.back() * (0.5 + static_cast<double>(i))).sum();
    }
    loss.backward();
    loss = Tensor();
    for (Tensor& p : parameters) p.grad().realize();
    optim::Adam opt(parameters, {.lr = 0.25});
    const Cost c = cost_of([&] { opt.step(); });
    CHECK(c.launches <= 2);
    // Both moments, the gradient and the parameter are read, all but the gradient are written.
    uint64_t elements = 0;
    for (const Tensor& p : parameters) elements += static_cast<uint64_t>(p.numel());
    CHECK(c.bytes <= 7 * 4 * elements + 100);
    for (const Tensor& p : parameters)  // the first step is lr against the sign of the gradient
      for (double v : {p.min().item(), p.max().item()}) CHECK(v == Approx(0.75).epsilon(1e-4));
  }
}

namespace {

/// What a step over so many tensors of so many shapes costs, from the third on.
template <class Rule>
uint64_t launches_of(typename Rule::Options options, int64_t tensors = 100, int64_t shapes = 100) {
  std::vector<Tensor> parameters;
  for (int64_t i = 0; i < tensors; ++i)
    parameters.push_back(stored(full({3 + i % shapes, 7 + i % shapes % 13}, 1.0f)).requires_grad());
  Rule rule(parameters, options);
  uint64_t launches = 0;
  for (int step = 0; step < 3; ++step) {
    for (Tensor& p : parameters) p.set_grad(stored(full(p.shape(), 0.5f + static_cast<float>(step))));
    launches = cost_of([&] { rule.step(); }).launches;
  }
  return launches;
}

}  // namespace

TEST_CASE("a step of any elementwise rule over a hundred tensors is at most two launches", "[launches]") {
  const FixedTarget fixed;
  CHECK(launches_of<optim::SGD>({.momentum = 0.9, .weight_decay = 0.1, .nesterov = true}) <= 2);
  CHECK(launches_of<optim::AdamW>({.amsgrad = true}) <= 2);
  CHECK(launches_of<optim::RMSprop>({.momentum = 0.9, .centered = true}) <= 2);
  CHECK(launches_of<optim::Adagrad>({.lr_decay = 0.1}) <= 2);
  CHECK(launches_of<optim::Adadelta>({}) <= 2);
  CHECK(launches_of<optim::NAdam>({}) <= 2);
  CHECK(launches_of<optim::RAdam>({}) <= 2);
  CHECK(launches_of<optim::Adamax>({}) <= 2);
  CHECK(launches_of<optim::Lion>({.weight_decay = 0.1}) <= 2);
  CHECK(launches_of<optim::ASGD>({}) <= 2);
  CHECK(launches_of<optim::Rprop>({}) <= 2);
}

TEST_CASE("a step of LAMB, which takes norms of each tensor, is at most two launches", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  CHECK(launches_of<optim::LAMB>({.weight_decay = 0.1}) <= 2);
}

/// Five iterations of three products each, the norm before them, and the update.
TEST_CASE("a step of Muon is as many launches for twenty tensors as for one", "[launches]") {
  const FixedTarget fixed(kSmallPrograms);
  CHECK(launches_of<optim::Muon>({}, 1) <= 17);
  CHECK(launches_of<optim::Muon>({}, 20, 2) <= 17);
}
