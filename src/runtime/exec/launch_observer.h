// Who watches the launches of a run: the log, the overlap check, injected faults. A run that nobody watches creates no
// observer, and its loop over launches contains none of their code.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/exec/step_cost.h"

namespace sinter::runtime {

class PlanExecution;

/// The steps [first, first + count) of a plan, which run concurrently.
struct LaunchInfo {
  size_t number;  ///< among the plan's launches
  size_t first, count;
  StepCost cost;  ///< of all its steps
};

/// Observes one run. Destroyed in the middle of it if a launch throws.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  /// May throw: the launch does not happen then.
  virtual void before_launch(const LaunchInfo&) {}
  virtual void after_launch(const LaunchInfo&) {}
  /// After the last launch, if none threw.
  virtual void after_run() {}
};

using LaunchObservers = std::vector<std::unique_ptr<LaunchObserver>>;

/// The observers that DEBUG, SINTER_CHECK, the build and fault injection ask for now; usually none. `execution`
/// outlives them.
LaunchObservers make_launch_observers(const PlanExecution& execution);

}  // namespace sinter::runtime
