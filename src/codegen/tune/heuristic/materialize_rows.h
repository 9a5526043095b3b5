// Which values of a kernel are worth a tile.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A Row for each value that sibling loops over an inner range use and that is dear to compute again: sums with a loop
/// of their own, long expressions, and what a CPU's vectors transpose. Proposals: whether they are legal is another
/// question.
std::vector<Row> rows_to_keep(const Kernel& kernel, View& view, const runtime::Target& target);

/// Those of them that are legal without other Opts, and whose tiles together have at most so many bytes.
std::vector<Row> legal_rows(const Kernel& kernel, const runtime::Target& target, int64_t most_bytes);

/// The kernel in which these rows are stored into tiles and loaded from there.
Kernel with(const Kernel& kernel, const std::vector<Row>& rows);

/// The Opts with these rows; a tile that the loops do not fill in time is left out.
std::vector<Opt> add_rows(const Kernel& kernel, std::vector<Opt> opts, const std::vector<Row>& rows);

}  // namespace sinter::codegen
