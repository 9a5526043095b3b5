// From the program of a plan to its kernels: the list of passes stands in schedule.cpp and nowhere else.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "runtime/plan.h"
#include "runtime/target.h"
#include "schedule/graph/plan_graph.h"
#include "schedule/partition/partition.h"

namespace sinter::schedule {

struct Scheduled {
  runtime::Plan plan;                    ///< complete but for its programs: Step::program numbers `kernels`
  std::vector<codegen::Kernel> kernels;  ///< each body once
};

/// Equal plan graphs under equal targets give equal plans. Throws InternalError for a graph that is none.
Scheduled schedule(PlanGraph plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// The first half, for tests and tools: the partition with homes settled, ready to be written as kernels.
Partition cut(PlanGraph& plan, const runtime::Target& target, Policy policy = Policy::Fused);

/// Sees every plan that is scheduled, for tests of what partitions look like. Called from whichever thread schedules.
class Witness {
 public:
  virtual ~Witness() = default;
  /// `plan` is what `cut` was made of, and gives the same stages when it is cut again.
  virtual void scheduled(const PlanGraph& plan, const Partition& cut, const Scheduled& made, Policy policy) = 0;
};

/// Set only while no other thread uses the library; null: nobody. The caller keeps it alive. Returns the one before.
Witness* set_witness(Witness* witness);
/// Somebody does: every plan is to be scheduled.
bool witnessed();

}  // namespace sinter::schedule
