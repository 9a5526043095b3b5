// The same training on the CPU and on the simulated GPU.
#include <vector>

#include "catch.h"
#include "sinter/data.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

/// Losses of the MNIST network's first steps on a device.
std::vector<float> losses(Device device, int steps) {
  const Device before = default_device();
  set_default_device(device);
  manual_seed(0);
  std::vector<float> all;
  {
    nn::Linear l1(784, 128), l2(128, 10);
    optim::Adam opt({l1.weight, l1.bias, l2.weight, l2.bias}, {.lr = 2e-3});
    for (auto [x, y] : data::mnist().train.batches(16)) {
      Tensor loss = cross_entropy(l2(relu(l1(x))), y);
      opt.zero_grad();
      loss.backward();
      opt.step();
      all.push_back(loss.item<float>());
      if (static_cast<int>(all.size()) == steps) break;
    }
  }
  set_default_device(before);
  return all;
}

}  // namespace

TEST_CASE("the MNIST network learns on a GPU as on the CPU", "[training][cuda]") {
  const std::vector<float> cpu = losses(Device::cpu(), 20);
  const runtime_test::Setting device("SINTER_DEVICE", "cuda-sim");
  const std::vector<float> gpu = losses(Device::cuda(0), 20);
  for (size_t i = 0; i < cpu.size(); ++i) {
    INFO("step " << i);
    CHECK(gpu[i] == Approx(cpu[i]).epsilon(1e-4));
  }
  CHECK(cpu.back() < 0.7 * cpu.front());
}
