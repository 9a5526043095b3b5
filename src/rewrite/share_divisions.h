// The last step for index expressions: where x/c is computed anyway, x%c is x - c*(x/c).
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// The roots (of one kernel, or indices and predicate of one access) with each Mod of dtype Index replaced whose
/// quotient stands in the graph already, so that no numerator is divided twice. Run it once, after the last
/// simplification: intervals of the result are wider, and nothing turns the difference back into a Mod.
std::vector<UOp> share_divisions(Graph& g, std::span<const UOp> roots);

}  // namespace sinter::ir
