// A plan ready to be run, with what its runs share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/exec/execute.h"

namespace sinter::runtime {

namespace cuda {
class LaunchLists;
}

/// Immutable; run from any thread.
class Runnable {
 public:
  /// The programs of the plan are there.
  explicit Runnable(Plan plan);
  ~Runnable();

  const Plan& plan() const { return plan_; }
  /// For runs one after the other, which this outlives.
  std::unique_ptr<PlanRun> runs() const;

 private:
  Plan plan_;
  ArenaLayout layout_;
  std::vector<StepLoad> loads_;               ///< of a plan without variables
  std::unique_ptr<cuda::LaunchLists> lists_;  ///< of a plan on a GPU
};

}  // namespace sinter::runtime
