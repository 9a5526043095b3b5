// A kernel's program on the simulated GPU.
#pragma once

#include "codegen_support.h"
#include "runtime/cuda/device.h"

namespace codegen_test {

/// The first simulated device, for the time of a test.
class SimulatedGpu {
 public:
  SimulatedGpu() : context_(runtime::cuda::Context::get(0)) {}

  runtime::Target target() const { return context_->target(); }

  /// What a program makes of `before` must be what lies in the bench's arrays now.
  void compare(const Bench& b, const std::string& what, const runtime::Program& program, const std::vector<Array>& before) const;

 private:
  runtime_test::Setting device_{"SINTER_DEVICE", "cuda-sim"};
  std::shared_ptr<runtime::cuda::Context> context_;
};

inline void SimulatedGpu::compare(const Bench& b, const std::string& what, const runtime::Program& program,
                                  const std::vector<Array>& before) const {
  using runtime::cuda::DevicePointer;
  runtime::cuda::Context& gpu = *context_;
  std::vector<std::pair<DevicePointer, size_t>> memory;
  auto place = [&](size_t bytes) {
    memory.emplace_back(gpu.allocator().allocate(bytes), bytes);
    return memory.back().first;
  };
  std::vector<uint64_t> parameters{place(sizeof(uint32_t))};
  gpu.fill(parameters[0], 0, sizeof(uint32_t));
  for (const Array& a : before) {
    parameters.push_back(place(a.data.size()));
    gpu.copy_to_device(parameters.back(), a.data.data(), a.data.size());
  }
  const int64_t points = b.points(program);
  if (program.scratch()) parameters.push_back(place(static_cast<size_t>(program.scratch() * points)));
  for (int64_t v : b.arguments()) parameters.push_back(static_cast<uint64_t>(v));

  const runtime::cuda::LoadedKernel& kernel = program.image()->on(gpu);
  gpu.launch(kernel.main, points, parameters);
  if (kernel.finish) gpu.launch(*kernel.finish, kernel.finish_blocks, parameters);
  uint32_t raised = 0;
  gpu.copy_to_host(&raised, parameters[0], sizeof raised);
  CHECK(raised == b.error);
  std::vector<Array> mine;
  for (size_t i = 0; i < before.size(); ++i) {
    mine.push_back(copy(before[i]));
    gpu.copy_to_host(mine[i].data.data(), parameters[1 + i], mine[i].data.size());
  }
  for (auto [at, bytes] : memory) gpu.allocator().deallocate(at, bytes);
  b.require_equal(what, mine);
}

}  // namespace codegen_test
