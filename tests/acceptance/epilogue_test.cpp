// What follows a product is computed once for each element, also where a window reads it.
#include "explain.h"
#include "fixed_target.h"
#include "runtime/exec/arena.h"
#include "runtime/program/host_target.h"
#include "schedule/schedule.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("a norm between a product and a window is stored, and nothing else", "[launches]") {
  const FixedTarget fixed;
  const no_grad guard;
  manual_seed(2);
  constexpr int64_t kImages = 8, kNarrow = 16, kWide = 96, kSize = 24;
  nn::Conv2d expand(kNarrow, kWide, 1, {.bias = false}),
      window(kWide, kWide, 3, {.padding = 1, .groups = kWide, .bias = false});
  nn::BatchNorm2d norm(kWide);
  nn::eval(norm);
  const Tensor x = randn({kImages, kNarrow, kSize, kSize}).contiguous().realize();
  realize(expand.weight, window.weight, norm.weight, norm.bias);
  const std::vector<Tensor> y{window(clamp(norm(expand(x)), 0, 6))};
  const auto plan = testing::explain(y, runtime::host_target()).scheduled.plan;
  CHECK(runtime::memory_of(plan).scratch == kImages * kWide * kSize * kSize * 4);
  CHECK(plan.launches.size() == 2);
}

TEST_CASE("the gradient of a filter before a norm has its results as tasks, not as loops in the norm's rows",
          "[launches]") {
  const FixedTarget fixed;
  manual_seed(4);
  nn::Conv2d first(3, 32, 3, {.padding = 1, .bias = false});
  nn::BatchNorm2d norm(32);
  const Tensor x = randn({32, 3, 32, 32}).contiguous().realize();
  realize(first.weight, norm.weight, norm.bias);
  const Tensor y = clamp(norm(first(x)), 0, 6);
  const std::vector<Tensor> asked = gradient((y * y).mean(), {first.weight, norm.weight, norm.bias});
  const plan::KernelSources made = testing::explain(asked, runtime::host_target());
  int stores = 0;
  for (const codegen::Kernel& k : made.scheduled.kernels) {
    int64_t tasks = 1;
    for (const Dim& d : k.outer) tasks *= d.bound();
    for (ir::UOp store : k.sink->src)
      if (store->src[0]->shape.bound() == first.weight.numel()) {
        ++stores;
        CHECK(tasks == first.weight.numel());
        CHECK(k.params == 3);  // the gradient of the norm's input is stored, and not evaluated for each tap
      }
  }
  CHECK(stores == 1);
}
