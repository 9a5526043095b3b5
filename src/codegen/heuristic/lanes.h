// Which ranges get the lanes of vectors, of those that no product's tile took.
#pragma once

#include <vector>

#include "codegen/heuristic/view.h"

namespace sinter::codegen {

/// Ranges that get `lanes` lanes beside `taken`, which have them already: those whose lanes save their statements most.
/// No statement runs over two of them, none of them is in `fixed`.
std::vector<ir::UOp> choose_lanes(View& view, int lanes, const std::vector<ir::UOp>& fixed,
                                  const std::vector<ir::UOp>& taken);

}  // namespace sinter::codegen
