// From decided positions to the graph that schedulers read: storages become Params, lifted numbers Args (SEMANTICS N1,
// N4).
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
  int32_t output;  ///< of the plan graph: equal values of different cells share one, and the later ones are copies
};

struct PlanProgram {
  schedule::PlanGraph graph;
  std::vector<StoredValue> stored;    ///< sources first
  std::vector<uint32_t> arg_numbers;  ///< Arg n is this one of PlanKey::numbers
};

/// `is_argument[i]`: number i is an argument.
PlanProgram build_plan_graph(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument);

/// One step of a plan that is interpreted: its value reads Params, where Param(slots + k) is the result of step k.
struct StepGraph {
  ir::UOp value;
  EvalStep::Mode mode;
  int32_t stored = -1;  ///< not Scratch: which stored value
};

/// The same program cut at the given steps; `graph` keeps the steps' nodes.
struct StepGraphs {
  std::shared_ptr<ir::Arena> graph;
  std::vector<StepGraph> steps;
};
StepGraphs build_step_graphs(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument,
                             const std::vector<EvalStep>& steps);

}  // namespace sinter::plan
