// What a plan is once it is built: who runs it, and what its results are. Built on generated kernels
// (plan/compiled_plan.cpp), on the interpreter (plan/interpreted_plan.cpp), or of copies between devices
// (plan/copy_plan.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "plan/build_plan_graph.h"
#include "runtime/base/target.h"
#include "runtime/exec/execution.h"
#include "runtime/program/program.h"
#include "schedule/schedule.h"

namespace sinter::plan {

/// A value that a plan stores, after ordering.
struct StoreTarget {
  int32_t position;
  int32_t home;  ///< slot it is written to, or -1: new memory
};

/// A plan as the plan cache holds it.
struct PlanEntry {
  std::unique_ptr<const runtime::Executable> executable;
  std::vector<StoreTarget> targets;   ///< per result of the executable, sources first
  std::vector<int32_t> target_of;     ///< per position: index into `targets`, or -1
  std::vector<uint32_t> arg_numbers;  ///< per argument of the executable: index into PlanKey::numbers
  Materialization materialization;    ///< before order_steps() broke cycles of stores
  bool spare_stores = false;          ///< it stores values that a lean Request would leave lazy
  bool flushes = false;               ///< denormals are zeros in it (SEMANTICS N7)
  mutable uint64_t used = 0;          ///< last use, by the plan cache's clock; guarded by the tensor graph's mutex
};

// The following fill in all of an entry that depends on the executor: executable, targets and arg_numbers.

/// Evaluates position by position on the interpreter: the oracle, and the executor without a compiler.
PlanEntry make_interpreted(const CanonicalProgram& plan, Materialization materialization, const PlanKey& plan_key,
                           const std::vector<uint8_t>& is_argument);

/// A plan whose values are COPYs of slots, each into new memory of its device.
PlanEntry make_copies(const CanonicalProgram& plan);

/// A plan on generated kernels, before they are compiled.
struct KernelSources {
  schedule::KernelSchedule scheduled;
  std::vector<runtime::KernelSource> sources;  ///< of scheduled.kernels
  bool decided = true;                         ///< false: a search for Opts was impossible now
};

/// The remaining work for a plan on generated kernels. Needs no graph lock.
struct Compilation {
  std::function<KernelSources()> write;
  std::function<PlanEntry()> run;  ///< writes and compiles
};
/// Copies what it needs from the graph now. `unfused`: one kernel per op, in plain loops.
Compilation make_compiled(const CanonicalProgram& plan, const Materialization& materialization, const PlanKey& plan_key,
                          const std::vector<uint8_t>& is_argument, const runtime::Target& target, bool unfused);

}  // namespace sinter::plan
