// Executing a Plan: allocates its memory, then runs its launches in order. The device implementations of a launch:
// runtime/exec/cpu_execution.h, runtime/exec/cuda_execution.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/exec/executable_plan.h"
#include "runtime/exec/execution.h"
#include "runtime/exec/step_cost.h"

namespace sinter::runtime {

class PlanExecution : public Execution {
 public:
  /// Allocates all outputs and the arena; the first call also allocates the invariants.
  void bind(const Bindings& bindings) override;
  void unbind() override;
  /// Launches that Plan::invariant_launches marks as unnecessary are skipped, unless the previous run failed, may have
  /// met an error or had other sizes. A launch that runs out of memory throws BackendError: earlier launches may have
  /// run, and OutOfMemory would say that nothing happened.
  uint32_t run() final;
  bool skips_invariants(std::span<const uint8_t> same) const final;
  bool drop_invariants() final;

  /// Address of a buffer of the plan.
  void* data(int buffer) const { return memory_[buffer]; }
  /// Bytes of a buffer at this run's sizes.
  size_t bytes(int buffer) const;

  const Plan& plan() const { return executable_.plan(); }
  const Program& program(size_t step) const;
  const StepCost& cost(size_t step) const { return costs_[step]; }
  /// Total of the steps of one launch.
  StepCost launch_cost(size_t first, size_t count) const;
  /// Between bind() and unbind(), in place of a run: ns that each of `times` launches of a step takes, one after the
  /// other, on average. They are neither counted nor logged. Throws BackendError if the device refuses a launch.
  virtual double time_step(size_t step, int times) = 0;

  /// The call that made a position of the canonical program, for the log. If unknown, the call for which the plan runs.
  std::string made_by(int position) const;

 protected:
  explicit PlanExecution(const ExecutablePlan& executable);

  /// Runs independent kernels concurrently: `count` steps from `first` on.
  virtual void launch(size_t first, size_t count) = 0;
  /// Called after the last launch. Returns the bits of the error word, if they are known.
  virtual uint32_t end() = 0;

  /// Kernel arguments after the buffers: sizes, then arguments.
  std::vector<int64_t> scalars(size_t step) const;
  /// Null if the plan has no scratch buffers.
  const Buffer* arena() const { return arena_.get(); }

 private:
  /// Whether the sizes of the invariant steps are those of the last run.
  bool same_sizes(const std::vector<int64_t>& vars) const;
  void allocate(std::span<Buffer* const> slots);
  /// Takes the new memory of results that the plan computes where they belong; the others are copied after a run.
  void place_results();
  uint32_t launch_all();
  /// Whether the launch stores only invariants whose inputs are the `same`, so it need not run again.
  bool skippable(size_t launch, std::span<const uint8_t> same) const;

  const ExecutablePlan& executable_;
  std::vector<int64_t> vars_;
  std::vector<uint64_t> args_;  ///< the bits of each argument in its own type, zero-extended
  std::vector<uint8_t> same_;   ///< Bindings::unchanged_slots
  std::vector<const ir::NodeOrigin*> origins_;
  std::vector<StepCost> own_costs_;             ///< if the plan's sizes vary
  std::span<const StepCost> costs_;             ///< per step
  bool invariants_valid_ = false;               ///< the invariants are computed, without an error
  InlineVector<void*, 8> memory_;               ///< per buffer
  std::vector<std::unique_ptr<Buffer>> owned_;  ///< per buffer: outputs of a run, and invariants
  std::unique_ptr<Buffer> arena_;
  std::vector<std::pair<void*, int>> duplicates_;  ///< after a run: to, buffer
};

}  // namespace sinter::runtime
