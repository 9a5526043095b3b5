// From materialized positions to the scheduler's input: storages become Params, numbers become Args (SEMANTICS N1, N4).
#pragma once

#include <vector>

#include "plan/eval_order.h"
#include "plan/plan_key.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::plan {

/// A value that a plan stores.
struct StoredValue {
  int32_t position;
  int32_t home;    ///< slot that takes it in place, or -1
  int32_t output;  ///< of the plan graph; equal values of different cells share one and all but the first are copied
};

struct PlanProgram {
  schedule::PlanGraph graph;
  std::vector<StoredValue> stored;    ///< sources first
  std::vector<uint32_t> arg_numbers;  ///< per Arg: index into PlanKey::numbers
};

/// `is_argument[i]`: number i of the plan key is an argument.
PlanProgram build_plan_graph(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument);

/// One step of an interpreted plan. Its value reads Params; Param(slots + k) is the result of step k.
struct StepGraph {
  ir::UOp value;
  EvalStep::Mode mode;
  int32_t stored = -1;  ///< index of the stored value; -1 for Scratch
};

/// The program split into the given steps. `graph` owns their nodes.
struct StepGraphs {
  std::shared_ptr<ir::Arena> graph;
  std::vector<StepGraph> steps;
};
StepGraphs build_step_graphs(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument,
                             const std::vector<EvalStep>& steps);

}  // namespace sinter::plan
