// Executing a Plan: allocates its memory, then runs its launches in order. The device implementations of a launch:
// runtime/exec/cpu_execution.h, runtime/exec/cuda_execution.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/arena.h"
#include "runtime/exec/buffer.h"
#include "runtime/exec/launch_observer.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/step_cost.h"
#include "sinter/inline_vector.h"

namespace sinter::runtime {

/// Consecutive runs of a plan, each bound to its own memory. What all runs share is set up once.
class PlanExecution {
 public:
  virtual ~PlanExecution() = default;
  PlanExecution(const PlanExecution&) = delete;
  PlanExecution& operator=(const PlanExecution&) = delete;

  /// Call before each run. Allocates all outputs and the arena; the first call also allocates the invariants. `slots`
  /// are the plan's slots. `args` holds the bits of each argument in its own type, zero-extended. Throws OutOfMemory.
  virtual void bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args);
  /// Call after the run. Frees the memory that nobody has taken.
  virtual void unbind();

  /// Whether run(same) would skip a launch if the invariants were valid.
  bool skips_invariants(std::span<const uint8_t> same) const;
  /// Frees the invariants, so the next run computes them again. Returns false if there are none. Not allowed between
  /// bind() and unbind().
  bool drop_invariants();
  /// Runs all launches once. Returns the bits of the error word, if they are known. Throws BackendError.
  ///
  /// `same` says per slot whether it holds the same as in the last run that did not throw; if empty, no slot does.
  /// Launches that Plan::invariant_launches marks as unnecessary are then skipped, unless the previous run failed, may
  /// have met an error or had other sizes.
  uint32_t run(std::span<const uint8_t> same = {});
  /// After run(): the memory that will hold the error bits when the device is done. Null if the bits are already known.
  virtual std::unique_ptr<Buffer> take_error() { return nullptr; }

  /// Launches of the last run above 5 ms and below 5 % of their roof, at DEBUG=1 and above. CPU only, where the
  /// roofline is known.
  const std::vector<SlowLaunch>& slow_launches() const { return slow_; }

  /// True on the CPU if the plan's estimate for all launches together is at most some tens of microseconds. Uses the
  /// largest sizes if they vary.
  bool is_short() const;

  /// Address of a buffer of the plan.
  void* data(int buffer) const { return memory_[static_cast<size_t>(buffer)]; }
  /// Bytes of a buffer at this run's sizes.
  size_t bytes(int buffer) const;
  /// Hands out the new memory of an Output buffer, once.
  std::unique_ptr<Buffer> take(int buffer) { return std::move(owned_[static_cast<size_t>(buffer)]); }

  const Plan& plan() const { return plan_; }
  const Program& program(size_t step) const;
  /// Total of the steps of one launch.
  StepCost launch_cost(size_t first, size_t count) const;

 protected:
  /// `plan` and its `layout` outlive this object. `costs`: step_costs() if it is the same for all runs, also outliving
  /// this object; if empty, the costs are computed for each run.
  PlanExecution(const Plan& plan, const ArenaLayout& layout, std::span<const StepCost> costs);

  /// Runs independent kernels concurrently: `count` steps from `first` on.
  virtual void launch(size_t first, size_t count) = 0;
  /// Called after the last launch. Returns the bits of the error word, if they are known.
  virtual uint32_t end() = 0;

  const StepCost& cost(size_t step) const { return costs_[step]; }
  /// Kernel arguments after the buffers: sizes, then arguments.
  std::vector<int64_t> scalars(size_t step) const;
  /// Null if the plan has no scratch buffers.
  const Buffer* arena() const { return arena_.get(); }

 private:
  /// Whether the launch stores only invariants whose inputs are the `same`, so it need not run again.
  bool skippable(size_t launch, std::span<const uint8_t> same) const;

  const Plan& plan_;
  const ArenaLayout& layout_;
  const bool varies_;
  std::vector<int64_t> vars_;
  std::vector<uint64_t> args_;
  std::vector<StepCost> own_costs_;             ///< if the plan's sizes vary
  std::span<const StepCost> costs_;             ///< per step
  bool invariants_valid_ = false;               ///< the invariants are computed, without an error
  InlineVector<void*, 8> memory_;               ///< per buffer
  std::vector<std::unique_ptr<Buffer>> owned_;  ///< per buffer: outputs of a run, and invariants
  std::unique_ptr<Buffer> arena_;
  std::vector<SlowLaunch> slow_;
};

}  // namespace sinter::runtime
