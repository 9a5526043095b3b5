// Which values of a kernel are worth a tile.
#pragma once

#include <vector>

#include "codegen/opt.h"
#include "codegen/view.h"

namespace sinter::codegen {

/// A Row for each value that sibling loops over an inner range use and that is dear to compute again: sums with a loop of
/// their own, and long expressions. Proposals: the caller asks is_legal().
std::vector<Row> rows_to_keep(const Kernel& kernel, View& view);

}  // namespace sinter::codegen
