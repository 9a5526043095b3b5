// A kernel's program on the simulated GPU.
#pragma once

#include "gpu_launch.h"
#include "unit/codegen_support.h"

namespace codegen_test {

/// The first simulated device, for the time of a test.
class SimulatedGpu {
 public:
  SimulatedGpu() : context_(runtime::cuda::Context::get(0)) {}

  runtime::Target target() const { return context_->target(); }

  /// What a program makes of `before` must be what lies in the bench's arrays now.
  void compare(const KernelHarness& b, const std::string& what, const runtime::Program& program,
               const std::vector<Array>& before) const;

 private:
  runtime_test::ScopedEnv device_{"SINTER_DEVICE", "cuda-sim"};
  std::shared_ptr<runtime::cuda::Context> context_;
};

inline void SimulatedGpu::compare(const KernelHarness& b, const std::string& what, const runtime::Program& program,
                                  const std::vector<Array>& before) const {
  std::vector<uint64_t> numbers;
  for (int64_t v : b.arguments()) numbers.push_back(static_cast<uint64_t>(v));
  auto left = launched(*context_, program, b.points(program), before, numbers);
  uint32_t raised = 0;
  std::memcpy(&raised, left[0].data(), sizeof raised);
  CHECK(raised == b.error);
  std::vector<Array> mine;
  for (size_t i = 0; i < before.size(); ++i) {
    mine.push_back(copy(before[i]));
    mine[i].data = std::move(left[i + 1]);
  }
  b.require_equal(what, mine);
}

}  // namespace codegen_test
