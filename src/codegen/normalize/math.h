// Expands functions that no target has (trait kDecomposed: exp, sin, pow, ...) into ops that every target has. They
// then fuse and vectorize like everything else, and give the same bits on every machine with an FMA.
#pragma once

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// The same computation in `g` without kDecomposed ops. Expansions are elementwise, branch-free and of the op's shape;
/// math_ops.h documents algorithms and errors. If `root` is in another graph, all of it is rebuilt in `g`. Throws
/// InternalError for a function on a type without an expansion (all but float32 and float64).
UOp expand_math(ir::Graph& g, UOp root);

/// Upper bound on the error of an expansion, in ulp of the exact result (the spacing of floats in its binade, denormals
/// included); 0 if the result is exact. Throws InternalError as expand_math does.
double max_ulp(Op op, DType dtype);

}  // namespace sinter::codegen
