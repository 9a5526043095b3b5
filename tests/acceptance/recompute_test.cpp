// What checkpoint() is for: the memory of a deep network's training step.
#include "explain.h"
#include "fixed_target.h"
#include "runtime/exec/arena.h"
#include "schedule/schedule.h"
#include "unit/tensor_support.h"

using namespace sinter;

namespace {

/// The arena of the plan of a training step of twelve transformer blocks, in bytes.
int64_t arena_of_step(bool checkpoints) {
  manual_seed(1);
  constexpr int64_t kSize = 64, kBlocks = 12;
  std::vector<nn::TransformerEncoderLayer> blocks;
  for (int64_t i = 0; i < kBlocks; ++i)
    blocks.emplace_back(kSize, 4, nn::TransformerOptions{.dim_feedforward = 4 * kSize});
  Tensor h = randn({4, 128, kSize}).realize();
  std::vector<Tensor> parameters;
  for (nn::TransformerEncoderLayer& block : blocks) {
    const auto apply = [&](const Tensor& x) { return block(x); };
    h = checkpoints ? checkpoint(apply, h) : block(h);
    for (const Tensor& p : nn::parameters(block)) parameters.push_back(p);
  }
  const std::vector<Tensor> gradients = gradient((h * h).mean(), parameters);
  h = Tensor();
  return runtime::memory_of(testing::explain(gradients, runtime::reference_target()).scheduled.plan).arena;
}

}  // namespace

TEST_CASE("checkpoint halves the peak memory of twelve transformer blocks", "[memory]") {
  const int64_t plain = arena_of_step(false), checkpointed = arena_of_step(true);
  INFO("arena bytes: " << plain << " plain, " << checkpointed << " with checkpoints");
  CHECK(2 * checkpointed <= plain);
}
