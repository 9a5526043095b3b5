// Sums of products that are 0 where a predicate is false: gradients of padded and sliding windows.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. If both factors of a product have the same predicate and are +0 where it is false, a factor
/// that is a LOAD keeps only the conjuncts that depend on no range outside its index, provided that they keep it in
/// bounds; a select applies the whole predicate. The loaded value then does not depend on the predicate's other ranges.
ir::UOp select_by_predicate(ir::Graph& g, ir::UOp sink);

/// The common predicate of both factors of a sum of products: where it is false both are +0. Null if there is none.
ir::UOp common_predicate(ir::UOp reduce);

/// The predicated LOADs in the values of a REDUCE, not those of nested reductions.
std::vector<ir::UOp> predicated_loads(ir::UOp reduce);

/// The value where its predicate is true: strips a WHERE that selects +0 otherwise.
ir::UOp without_predicate(ir::UOp value);

}  // namespace sinter::codegen
