// Launches one kernel on memory of its own to measure its time, for the search. On any device: PlanExecution has the
// clock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/attr.h"
#include "runtime/exec/buffer.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/step_cost.h"

namespace sinter::runtime {

class KernelTimer {
 public:
  /// Prepares the launch of step `step` of `plan` on the plan's device at these values of the plan's variables,
  /// regardless of the plan's programs. Buffers have the size of their bounds, hold small numbers and are overwritten
  /// by each launch. Throws OutOfMemory.
  KernelTimer(const Plan& plan, size_t step, std::vector<int64_t> vars);
  ~KernelTimer();

  /// A program for the step, ready to launch.
  class Candidate {
   public:
    ~Candidate();

   private:
    friend class KernelTimer;
    struct State;
    explicit Candidate(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  /// Throws BackendError if the device rejects the program, and OutOfMemory.
  std::unique_ptr<Candidate> prepare(std::shared_ptr<const Program> program) const;

  /// The cost of one launch.
  static const StepCost& cost(const Candidate& candidate);

  /// Median ns per launch, over rounds of several launches each, after a warm-up launch. This and ratio() throw
  /// BackendError if the device refuses a launch.
  static double time(Candidate& candidate);

  /// The time of `a` divided by that of `b`: the median over rounds that alternate between the two, so a disturbance of
  /// the machine affects both. time() must have been called for `b`. If `a` is clearly above `hoped` times `b`, stops
  /// early and returns the ratio so far.
  static double ratio(Candidate& a, Candidate& b, double hoped);

 private:
  Plan plan_;  ///< the one step; has no program
  std::vector<int64_t> vars_;
  std::vector<ir::Scalar> args_;
  std::vector<std::unique_ptr<Buffer>> memory_;  ///< per buffer
};

}  // namespace sinter::runtime
