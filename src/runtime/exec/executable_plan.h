// A plan ready to run, with the state that its runs share.
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

/// Immutable. May be run from any thread.
class ExecutablePlan {
 public:
  /// The plan must contain its programs.
  explicit ExecutablePlan(Plan plan);
  ~ExecutablePlan();

  const Plan& plan() const { return plan_; }
  /// Makes an execution for consecutive runs. This object must outlive it.
  std::unique_ptr<PlanExecution> make_execution() const;

 private:
  Plan plan_;
  ArenaLayout layout_;
  std::vector<StepCost> costs_;                    ///< if the plan has no variables
  std::unique_ptr<cuda::LaunchGraphPool> graphs_;  ///< if the plan is for a GPU
};

}  // namespace sinter::runtime
