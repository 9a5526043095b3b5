// Predicates of the factors of a product: both are 0 where the common one is false.
#pragma once

#include <vector>

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// Whether n is the constant +0.
bool is_zero(UOp n);

/// The predicate of a value that is +0 where the predicate is false; null if there is none.
UOp zero_predicate(UOp value);

/// The common predicate of both factors of a sum of products: where it is false both are +0. Of a sum in steps of a
/// tensor core it is the same for all elements of a step. Null if there is none.
UOp common_predicate(UOp reduce);

/// The values of a REDUCE, those of a product where the common predicate of both is true.
std::vector<UOp> open_factors(UOp reduce);

/// The predicated LOADs in the values of a REDUCE, not those of nested reductions.
std::vector<UOp> predicated_loads(UOp reduce);

/// The factor, a LOAD, that a sum of products multiplies with +0 where the predicate of `load`, its other factor, is
/// false. Null if the sum is another one.
UOp factor_beside(UOp reduce, UOp load);

/// The value where its predicate is true: strips a WHERE that selects +0 otherwise.
UOp without_predicate(UOp value);

}  // namespace sinter::codegen
