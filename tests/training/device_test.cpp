// The same training on a GPU and on the CPU.
#include <cmath>

#include "catch.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/simulator.h"
#include "sinter/cuda.h"
#include "sinter/data.h"
#include "sinter/sinter.h"
#include "skip.h"

using namespace sinter;

namespace {

/// A GPU for the length of a test: a real one, or one that is simulated.
struct Gpu {
  Gpu() : simulated(!cuda::is_available()) {
    if (simulated) runtime::cuda::inject_driver(&runtime::cuda::simulated_driver());
  }
  ~Gpu() {
    if (!simulated) return;
    debug::clear_plans();
    runtime::cuda::forget_devices();
    runtime::cuda::inject_driver(nullptr);
  }
  const bool simulated;
};

struct Mlp {
  nn::Linear l1{784, 128}, l2{128, 10};
  SINTER_MODULE(l1, l2)
  Tensor operator()(const Tensor& x) const { return l2(relu(l1(x))); }
};

float step(const Mlp& model, optim::Adam& opt, const data::Batch& batch, Device device) {
  const Tensor loss = cross_entropy(model(batch.x.to(device)), batch.y.to(device));
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item<float>();
}

}  // namespace

TEST_CASE("twenty steps of a network on MNIST have the same losses on a GPU as on the CPU", "[training]") {
  const Gpu gpu;
  if (!cuda::is_available()) SKIP_TEST("no compiler of CUDA text");
  manual_seed(1);
  const data::Mnist mnist = data::mnist();
  Mlp host;
  nn::to(host, Device::cpu());  // wherever SINTER_DEVICE has made it
  Mlp there = nn::clone(host);
  nn::to(there, Device::cuda());
  optim::Adam host_opt(nn::parameters(host), {.lr = 2e-3}), there_opt(nn::parameters(there), {.lr = 2e-3});
  int steps = 0;
  for (const data::Batch& batch : mnist.train.batches(8)) {
    const float expected = step(host, host_opt, batch, Device::cpu());
    const float loss = step(there, there_opt, batch, Device::cuda());
    INFO("step " << steps);
    CHECK(std::abs(loss - expected) <= 1e-5f * expected);
    if (++steps == 20) break;
  }
}
