// A plan ready to be run, with what its runs share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/exec/execute.h"

namespace sinter::runtime {

namespace cuda {
class LaunchGraphPool;
}

/// Immutable; run from any thread.
class ExecutablePlan {
 public:
  /// The programs of the plan are there.
  explicit ExecutablePlan(Plan plan);
  ~ExecutablePlan();

  const Plan& plan() const { return plan_; }
  /// For runs one after the other, which this outlives.
  std::unique_ptr<PlanExecution> make_execution() const;

 private:
  Plan plan_;
  ArenaLayout layout_;
  std::vector<StepCost> costs_;                    ///< of a plan without variables
  std::unique_ptr<cuda::LaunchGraphPool> graphs_;  ///< of a plan on a GPU
};

}  // namespace sinter::runtime
