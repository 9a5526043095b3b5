// Runs a plan's launches on the thread pool. Each launch() returns when the launch is done.
#pragma once

#include <memory>

#include "runtime/exec/plan_execution.h"
#include "runtime/exec/scratch.h"

namespace sinter::runtime::cpu {

class CpuExecution final : public PlanExecution {
 public:
  explicit CpuExecution(const ExecutablePlan& executable);
  /// As PlanExecution. Also allocates scratch memory.
  void bind(const Bindings& bindings) override;
  void unbind() override;
  double time_step(size_t step, int times) override;

  /// The launch alone, neither counted nor logged. May be called any number of times.
  void launch(size_t first, size_t count) override;

 private:
  struct KernelCall;
  uint32_t end() override { return bits_; }
  /// The arguments of one kernel of a launch.
  KernelCall make_call(size_t step) const;
  /// Runs all tasks of several calls on the pool.
  static int run_concurrently(const std::vector<KernelCall>& calls);
  void poison_unused_arena(std::span<const PlanStep> steps);  ///< poisons all but the steps' buffers

  int64_t scratch_bytes_ = 0;             ///< per thread
  std::unique_ptr<ScratchPool> scratch_;  ///< null if no kernel needs scratch
  uint32_t bits_ = 0;                     ///< of the error word
};

}  // namespace sinter::runtime::cpu
