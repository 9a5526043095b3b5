// Running a Plan: its memory first, then its launches in order. What a launch is on a device:
// runtime/exec/cpu_execution.h, runtime/exec/cuda_execution.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/arena.h"
#include "runtime/exec/buffer.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/step_cost.h"
#include "sinter/inline_vector.h"

namespace sinter::runtime {

/// A launch that took long, and came nowhere near the machine's limit.
struct SlowLaunch {
  std::string what;  ///< kernel, time, and how near it came to which limit
  int position;      ///< PlanStep::position of its longest step
};

/// Runs of a plan, one after the other, each on the memory that it is bound to: what a run is made of is made once.
class PlanExecution {
 public:
  virtual ~PlanExecution() = default;
  PlanExecution(const PlanExecution&) = delete;
  PlanExecution& operator=(const PlanExecution&) = delete;

  /// Before each run: allocates all outputs and the arena, and with the first what is kept. The slots hold what the
  /// plan says; args are the bits of each argument in its own type, zero-extended. Throws OutOfMemory.
  virtual void bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args);
  /// After it: gives back what nobody has taken.
  virtual void unbind();

  /// Whether a launch would be left out by run(same) if what is kept were there.
  bool skips_invariants(std::span<const uint8_t> same) const;
  /// Gives back what is kept: the next run makes it again. False if that is nothing. Not between bind() and unbind().
  bool forget();
  /// Launches everything, once; returns the bits of the error word, if they are known. Throws BackendError. `same`: per
  /// slot whether it holds what it did in the last run that did not throw; none: no slot does. What
  /// Plan::invariant_launches says is not needed then is left out, unless the run before has failed, may have met an
  /// error, or had other sizes.
  uint32_t run(std::span<const uint8_t> same = {});
  /// After run(): where the bits will be when the device is done; null if they are known.
  virtual std::unique_ptr<Buffer> take_error() { return nullptr; }

  /// Of the last run, at DEBUG=1 and above: launches above 5 ms below 5 % of their roof. On the CPU, whose roofs are
  /// known.
  const std::vector<SlowLaunch>& slow_launches() const { return slow_; }

  /// On the CPU, and by the plan's estimate (of the largest sizes, if they vary) its launches together take some
  /// tens of microseconds at most.
  bool brief() const;

  /// The memory of a buffer of the plan.
  void* data(int buffer) const { return memory_[static_cast<size_t>(buffer)]; }
  /// Bytes of a buffer at this call's sizes.
  size_t bytes(int buffer) const;
  /// Hands out the new memory of a buffer of kind Output, once.
  std::unique_ptr<Buffer> take(int buffer) { return std::move(owned_[static_cast<size_t>(buffer)]); }

 protected:
  /// `plan` and `layout` (that of the plan) outlive it. `costs`: step_costs() where it is the same for all
  /// runs, which outlives them too; worked out for each if not given.
  PlanExecution(const Plan& plan, const ArenaLayout& layout, std::span<const StepCost> costs);

  /// Independent kernels, side by side: steps from `first` on.
  virtual void launch(size_t first, size_t count) = 0;
  /// After the last launch: the bits of the error word, if they are known.
  virtual uint32_t end() = 0;

  const Plan& plan() const { return plan_; }
  const Program& program(size_t step) const;
  const StepCost& cost(size_t step) const { return costs_[step]; }
  /// What a kernel is called with behind its buffers: sizes, then arguments.
  std::vector<int64_t> scalars(size_t step) const;
  /// Null if the plan has no scratch buffers.
  const Buffer* arena() const { return arena_.get(); }

 private:
  struct Limit;
  /// A launch of which what it reads is the `same` needs to run no more than once.
  bool skippable(size_t launch, std::span<const uint8_t> same) const;
  /// Of the steps of one launch together.
  StepCost launch_cost(size_t first, size_t count) const;
  /// Launches with the log, where a limit is said beside the time; returns the microseconds that it took, or 0 where
  /// nobody asks.
  double launch_logged(size_t first, size_t count, const StepCost& cost, const Limit* limit);
  std::string name_of(size_t first, size_t count) const;
  /// Keeps a launch that took so long for slow_launches(), if it should have taken less.
  void note_if_slow(size_t first, size_t count, double us);

  const Plan& plan_;
  const ArenaLayout& layout_;
  const bool varies_;
  std::vector<int64_t> vars_;
  std::vector<uint64_t> args_;
  std::vector<StepCost> own_costs_;             ///< of a plan that varies
  std::span<const StepCost> costs_;             ///< per step
  bool invariants_valid_ = false;               ///< what is kept is there, without an error
  InlineVector<void*, 8> memory_;               ///< per buffer
  std::vector<std::unique_ptr<Buffer>> owned_;  ///< per buffer: outputs of a run, and what is kept
  std::unique_ptr<Buffer> arena_;
  std::vector<SlowLaunch> slow_;
};

}  // namespace sinter::runtime
