// The order in which the interpreter evaluates a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/materialize.h"

namespace sinter::plan {

/// One evaluation of an interpreted plan.
struct EvalStep {
  int32_t position;
  enum Mode : uint8_t { Scratch, Fresh, InPlace } mode;
};

/// The steps of a plan without kernels: stores, and each reduction, scan, gather or scatter once into scratch. Sources
/// come before users, and readers of a storage before the store that overwrites it. In a cycle, one store takes new
/// storage (its entry in `in_place` becomes -1). Compiled plans order hazards in schedule/fusion/hazards.h.
std::vector<EvalStep> order_steps(const CanonicalProgram& plan, Materialization& materialization);

}  // namespace sinter::plan
