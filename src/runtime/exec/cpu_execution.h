// A plan's launches over the thread pool: each returns when it is done.
#pragma once

#include <memory>

#include "runtime/exec/execute.h"
#include "runtime/exec/scratch.h"

namespace sinter::runtime::cpu {

class CpuExecution final : public PlanExecution {
 public:
  CpuExecution(const Plan& plan, const ArenaLayout& layout, std::span<const StepCost> costs = {});
  /// As PlanExecution; allocates scratch memory too.
  void bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) override;
  void unbind() override;

  /// The launch itself, neither counted nor logged; any number of times.
  void launch(size_t first, size_t count) override;

 private:
  struct KernelCall;
  uint32_t end() override { return error_; }
  /// A kernel of a launch with what it is called with.
  KernelCall make_call(size_t step) const;
  /// All tasks of several calls over the pool.
  static int run_concurrently(const std::vector<KernelCall>& calls);
  void poison_unused_arena(std::span<const PlanStep> steps);  ///< forbids all of it but the buffers of the steps

  int64_t scratch_bytes_ = 0;             ///< per thread
  std::unique_ptr<ScratchPool> scratch_;  ///< null if no kernel needs any
  uint32_t error_ = 0;
};

}  // namespace sinter::runtime::cpu
