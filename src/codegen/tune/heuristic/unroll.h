// Unrolls of products' innermost loops.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// With an Unroll for the innermost loop of each product's sum: fewer of its branches are taken, and the last one of a
/// short loop is foreseen. Legal if `opts` are, which have the Peels.
std::vector<Opt> unroll_products(TuningState& state, std::vector<Opt> opts);

}  // namespace sinter::codegen
