// The order in which the interpreter evaluates a plan, which has no kernels then.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/materialize.h"

namespace sinter::plan {

/// One evaluation of a plan that is run position by position.
struct EvalStep {
  int32_t position;
  enum Mode : uint8_t { Scratch, Fresh, InPlace } mode;
};

/// The order of a plan without kernels: stores, and each reduction or pick once into scratch. Sources come before
/// users, readers of a storage before the store that writes it in place; where those wait for each other in a circle,
/// one store gives up its place (its entry in `in_place` becomes -1). Plans on kernels
/// order those instead (schedule/fusion/hazards.h).
std::vector<EvalStep> order_steps(const CanonicalProgram& plan, Materialization& materialization);

}  // namespace sinter::plan
