#include "runtime/exec/launch_observer.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "ir/contains.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/base/sanitizer.h"
#include "runtime/exec/launch_log.h"
#include "runtime/exec/overlap_check.h"
#include "runtime/exec/plan_execution.h"
#include "runtime/program/program.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

/// Declares the memory of each kernel while its launch runs.
class OverlapObserver final : public LaunchObserver {
 public:
  explicit OverlapObserver(const PlanExecution& execution) : execution_(execution) {}

  void before_launch(const LaunchInfo& launch) override {
    const std::vector<PlanStep>& steps = execution_.plan().steps;
    for (size_t i = launch.first; i < launch.first + launch.count;) {
      const size_t begin = i;
      std::map<int, bool> written;  // by buffer; sections of one kernel count as one use
      do {
        const PlanStep& step = steps[i];
        for (int b : step.buffers) written[b] |= ir::contains(step.writes, b);
        ++i;
      } while (i < launch.first + launch.count && steps[i].section_of >= 0 &&
               steps[i].section_of == steps[begin].section_of);
      std::vector<OverlapCheck::MemoryRange> ranges;
      for (auto [b, writes] : written)
        ranges.push_back({static_cast<const std::byte*>(execution_.data(b)), execution_.bytes(b), writes});
      checks_.emplace_back(execution_.program(begin).name(), std::move(ranges));
    }
  }
  void after_launch(const LaunchInfo&) override { checks_.clear(); }

 private:
  const PlanExecution& execution_;
  std::list<OverlapCheck> checks_;
};

/// Fails the launch that a test names, once.
class FaultObserver final : public LaunchObserver {
 public:
  void before_launch(const LaunchInfo& launch) override {
    int& fail = fault_injection().fail_at_launch;
    if (fail != static_cast<int>(launch.number)) return;
    fail = -1;
    throw BackendError("the launch failed (injected)");
  }
};

}  // namespace

LaunchObservers make_launch_observers(const PlanExecution& execution) {
  LaunchObservers observers;
  if (fault_injection().fail_at_launch >= 0) observers.push_back(std::make_unique<FaultObserver>());
  if (kSanitizer == Sanitizer::Thread || env().check) observers.push_back(std::make_unique<OverlapObserver>(execution));
  if (logging(1)) observers.push_back(make_launch_log(execution));
  return observers;
}

}  // namespace sinter::runtime
