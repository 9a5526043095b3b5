// From the program of a plan to its kernels: the list of passes stands in schedule.cpp and nowhere else.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/base/target.h"
#include "runtime/exec/plan.h"
#include "schedule/fusion/partition.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

struct KernelSchedule {
  runtime::Plan plan;                    ///< complete but for its programs: PlanStep::program numbers `kernels`
  std::vector<codegen::Kernel> kernels;  ///< each body once
};

/// Equal plan graphs under equal targets give equal plans. Throws InternalError for a graph that is none.
KernelSchedule schedule(PlanGraph plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// The first half, for tests and tools: the partition with homes settled, ready to be written as kernels.
Partition partition_plan(PlanGraph& plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// While it lives, sees every plan that is scheduled, for tests of what partitions look like and for ./dev
/// replay. Called from whichever
/// thread schedules; begins and ends only while no other thread uses the library.
class ScheduleObserver {
 public:
  /// `all`: plans are scheduled again where the cache folder has them.
  explicit ScheduleObserver(bool all = true);
  virtual ~ScheduleObserver();
  ScheduleObserver(const ScheduleObserver&) = delete;
  ScheduleObserver& operator=(const ScheduleObserver&) = delete;
  bool sees_all() const { return all_; }

  /// Before anything becomes of it.
  virtual void before_schedule(const PlanGraph&, Policy) {}
  /// `plan` is what `cut` was made of, and gives the same nodes when it is cut again.
  virtual void after_schedule(const PlanGraph&, const Partition&, const KernelSchedule&, Policy) {}

 private:
  const bool all_;
};

/// A witness must see plans that the cache folder has, too.
bool observers_bypass_cache();

}  // namespace sinter::schedule
