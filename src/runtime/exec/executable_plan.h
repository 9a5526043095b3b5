// A plan ready to run, with the state that its runs share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/exec/arena.h"
#include "runtime/exec/execution.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/step_cost.h"

namespace sinter::runtime {

namespace cuda {
class LaunchGraphPool;
}
class PlanExecution;

/// A result of a plan: an output's buffer computes it. It belongs into slot `home`, or into new memory if that is -1.
/// It is copied there if several results are equal, so that one buffer computes them all.
struct PlanResult {
  int buffer;
  int home;
};

/// What callers see of a plan, besides its slots.
struct PlanSignature {
  std::vector<DType> arg_types;
  std::vector<PlanResult> results;
};

class ExecutablePlan final : public Executable {
 public:
  /// The plan must contain its programs.
  ExecutablePlan(Plan plan, PlanSignature signature);
  ~ExecutablePlan() override;

  std::unique_ptr<Execution> make_execution() const override;
  /// The same, for callers that look at the plan's steps.
  std::unique_ptr<PlanExecution> make_plan_execution() const;
  std::unique_ptr<Executable> hoist_invariants(const InvariantInputs& invariant) const override;

  const Plan& plan() const { return plan_; }
  const PlanSignature& signature() const { return signature_; }
  const ArenaLayout& layout() const { return layout_; }
  /// Per step, if they are the same for all runs; else empty.
  std::span<const StepCost> costs() const { return costs_; }

 private:
  const Plan plan_;
  const PlanSignature signature_;
  const ArenaLayout layout_;
  std::vector<StepCost> costs_;
  std::unique_ptr<cuda::LaunchGraphPool> graphs_;  ///< if the plan is for a GPU
};

}  // namespace sinter::runtime
