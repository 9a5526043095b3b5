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

struct Scheduled {
  runtime::Plan plan;                    ///< complete but for its programs: Step::program numbers `kernels`
  std::vector<codegen::Kernel> kernels;  ///< each body once
};

/// Equal plan graphs under equal targets give equal plans. Throws InternalError for a graph that is none.
Scheduled schedule(PlanGraph plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// The first half, for tests and tools: the partition with homes settled, ready to be written as kernels.
Partition cut(PlanGraph& plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// While it lives, sees every plan that is scheduled, for tests of what partitions look like and for ./dev
/// replay. Called from whichever
/// thread schedules; begins and ends only while no other thread uses the library.
class Witness {
 public:
  /// `all`: plans are scheduled again where the cache folder has them.
  explicit Witness(bool all = true);
  virtual ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  bool sees_all() const { return all_; }

  /// Before anything becomes of it.
  virtual void given(const PlanGraph&, Policy) {}
  /// `plan` is what `cut` was made of, and gives the same stages when it is cut again.
  virtual void scheduled(const PlanGraph&, const Partition&, const Scheduled&, Policy) {}

 private:
  const bool all_;
};

/// A witness must see plans that the cache folder has, too.
bool witnessed();

}  // namespace sinter::schedule
