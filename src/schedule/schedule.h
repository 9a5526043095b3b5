// From a plan graph to kernels. schedule.cpp has the only list of the passes.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/base/target.h"
#include "runtime/exec/plan.h"
#include "schedule/fusion/partition.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

struct KernelSchedule {
  runtime::Plan plan;                    ///< complete but for its programs: PlanStep::program indexes `kernels`
  std::vector<codegen::Kernel> kernels;  ///< each distinct body once
};

/// Equal plan graphs under equal targets give equal plans. Throws InternalError if `plan` is not a valid plan graph.
KernelSchedule schedule(PlanGraph plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// The first half, for tests and tools: the partition with its in-place homes settled, ready for rangeify.
Partition partition_plan(PlanGraph& plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// While it lives, sees every plan that is scheduled: for tests of partitions and for ./dev replay. Called on the
/// scheduling thread. Construct and destroy it only while no other thread uses the library.
class ScheduleObserver {
 public:
  /// `all`: plans that the cache folder has are scheduled again.
  explicit ScheduleObserver(bool all = true);
  virtual ~ScheduleObserver();
  ScheduleObserver(const ScheduleObserver&) = delete;
  ScheduleObserver& operator=(const ScheduleObserver&) = delete;
  bool sees_all() const { return all_; }

  /// Before the first pass.
  virtual void before_schedule(const PlanGraph&, Policy) {}
  /// `plan` is the graph that was partitioned. Partitioning it again gives the same nodes.
  virtual void after_schedule(const PlanGraph&, const Partition&, const KernelSchedule&, Policy) {}

 private:
  const bool all_;
};

/// Whether an observer wants all plans, including those that the cache folder has.
bool observers_bypass_cache();

}  // namespace sinter::schedule
