// The last step for index expressions: where x/c is computed anyway, x%c becomes x - c*(x/c).
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Replaces each Mod of dtype Index whose quotient is already in the graph, so that no numerator is divided twice. The
/// roots are those of one kernel, or the indices and predicate of one access. Run once, after the last simplification:
/// intervals of the result are wider, and nothing turns the difference back into a Mod.
std::vector<UOp> share_divisions(Graph& g, std::span<const UOp> roots);

}  // namespace sinter::ir
