// Sums of products that are 0 where a predicate is false: gradients of padded and sliding windows.
#pragma once

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. If both factors of a product have the same predicate and are +0 where it is false, a factor
/// that is a LOAD keeps only the conjuncts that depend on no range outside its index, provided that they keep it in
/// bounds; a select applies the whole predicate. The loaded value then does not depend on the predicate's other ranges.
UOp select_by_predicate(ir::Graph& g, UOp sink);

}  // namespace sinter::codegen
