// Unrolling of the innermost loops of products.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Adds an Unroll for the innermost loop of each product: fewer branches are taken, and the exit of a short loop is
/// predicted. `opts` must already have the Cuts. Legal if `opts` are.
std::vector<Opt> unroll_products(TuningState& state, std::vector<Opt> opts);

}  // namespace sinter::codegen
