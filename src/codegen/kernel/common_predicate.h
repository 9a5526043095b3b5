// Predicates of the factors of a product: both are 0 where the common one is false.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace sinter::codegen {

/// The predicate of a value that is +0 where the predicate is false; null if there is none.
ir::UOp zero_predicate(ir::UOp value);

/// The common predicate of both factors of a sum of products: where it is false both are +0. Of a sum in steps of a
/// tensor core it is the same for all elements of a step. Null if there is none.
ir::UOp common_predicate(ir::UOp reduce);

/// The values of a REDUCE, those of a product where the common predicate of both is true.
std::vector<ir::UOp> open_factors(ir::UOp reduce);

/// The predicated LOADs in the values of a REDUCE, not those of nested reductions.
std::vector<ir::UOp> predicated_loads(ir::UOp reduce);

/// The value where its predicate is true: strips a WHERE that selects +0 otherwise.
ir::UOp without_predicate(ir::UOp value);

}  // namespace sinter::codegen
