// A plan's launches over the thread pool: each returns when it is done.
#pragma once

#include <memory>

#include "runtime/exec/execute.h"
#include "runtime/exec/scratch.h"

namespace sinter::runtime::cpu {

class Run final : public PlanRun {
 public:
  Run(const Plan& plan, const ArenaLayout& layout, std::span<const StepLoad> loads = {});
  /// As PlanRun; allocates scratch memory too.
  void bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) override;
  void let_go() override;

  /// The launch itself, neither counted nor logged; any number of times.
  void launch(size_t first, size_t count) override;

 private:
  struct Call;
  uint32_t end() override { return error_; }
  /// A kernel of a launch with what it is called with.
  Call prepare(size_t step) const;
  /// All points of several calls over the pool.
  static int run_together(const std::vector<Call>& calls);
  void open_arena(std::span<const Step> steps);  ///< forbids all of it but the buffers of the steps

  int64_t scratch_bytes_ = 0;         ///< per thread
  std::unique_ptr<Scratch> scratch_;  ///< null if no kernel needs any
  uint32_t error_ = 0;
};

}  // namespace sinter::runtime::cpu
