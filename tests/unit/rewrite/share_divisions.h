// What compilers make of index expressions: where x/c is computed anyway, x%c becomes x - c*(x/c).
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Replaces each Mod of dtype Index whose quotient is already in the graph, so that no numerator is divided twice.
std::vector<UOp> share_divisions(Graph& g, std::span<const UOp> roots);

}  // namespace sinter::ir
