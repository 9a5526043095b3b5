// Collapses axes that are contiguous wherever a kernel uses them.
#pragma once

#include "codegen/kernel/kernel.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a kernel with adjacent outer ranges of fixed sizes that are contiguous in memory and in every index: rows and
///      columns of elementwise values, or batches and heads of row-major ones.
/// Out: the same stores with one range for them. Its loop is long, divides into vectors with at most one remainder, and
///      is written once. Several dims of a Param that these ranges index become one dim. Tasks keep their order.
void collapse_axes(codegen::Kernel& kernel);

}  // namespace sinter::schedule
