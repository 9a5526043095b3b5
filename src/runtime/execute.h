// Running a Plan: its memory first, then its launches in order, each over the thread pool.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/arena.h"
#include "runtime/buffer.h"
#include "runtime/load.h"
#include "runtime/memory_use.h"
#include "runtime/plan.h"
#include "runtime/scratch.h"

namespace sinter::runtime {

/// One run of a plan on given memory.
class PlanRun {
 public:
  /// Allocates all outputs and scratch memory. `plan` and `layout` (that of the plan) outlive the run; the slots hold what the
  /// plan says; args are the bits of each argument in its own type, zero-extended. `loads`: loads_of() at these values of
  /// the variables, which outlives the run too; worked out if not given. Throws OutOfMemory.
  PlanRun(const Plan& plan, const ArenaLayout& layout, std::span<Buffer* const> slots, std::span<const int64_t> vars,
          std::span<const uint64_t> args, std::span<const StepLoad> loads = {});

  /// Launches everything; returns the bits of the error word. Throws BackendError.
  uint32_t run();

  /// The memory of a buffer of the plan.
  void* data(int buffer) const { return memory_[static_cast<size_t>(buffer)]; }
  /// Bytes of a buffer at this call's sizes.
  size_t bytes(int buffer) const;
  /// Hands out the new memory of a buffer of kind Output, once.
  std::unique_ptr<Buffer> take(int buffer) { return std::move(owned_[static_cast<size_t>(buffer)]); }

 private:
  struct Call;
  /// A kernel of a launch with what it is called with.
  Call prepare(size_t step) const;
  /// Runs independent kernels side by side: steps from `first` on; returns the bytes that they read and write.
  size_t launch(size_t first, size_t count);
  /// All points of several calls over the pool.
  static int run_together(const std::vector<Call>& calls, Scratch* scratch);
  std::vector<MemoryUse::Range> ranges(const Step& step) const;
  void open_arena(std::span<const Step> steps);  ///< forbids all of it but the buffers of the steps

  const Plan& plan_;
  std::vector<int64_t> vars_;
  std::vector<uint64_t> args_;
  std::vector<StepLoad> own_loads_;     ///< if none were given
  std::span<const StepLoad> loads_;     ///< per step
  std::vector<void*> memory_;  ///< per buffer
  std::vector<std::unique_ptr<Buffer>> owned_;
  std::unique_ptr<Buffer> arena_;
  std::unique_ptr<Scratch> scratch_;  ///< null if no kernel needs any
  uint32_t error_ = 0;
};

}  // namespace sinter::runtime
