// Writes functions that no target spells (trait kDecomposed: exp, sin, pow, ...) in ops that every target has,
// so that they fuse and vectorise like everything else and give the same bits on every machine with an FMA.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// The same computation in `g` without a kDecomposed op. What comes in its place is elementwise and branch-free, in the
/// op's shape; algorithms and errors stand at each function in math_ops.h. `root` may lie in another graph; then all of
/// it is made again in `g`. Throws InternalError for a function on a type that has no expansion (all but float32 and
/// float64).
ir::UOp expand_math(ir::Graph& g, ir::UOp root);

/// An upper bound on the error of an expansion, in units of the last place of the right result (the spacing of floats
/// in its binade, denormals included); 0 where the result is exact. Throws InternalError as expand_math does.
double max_ulp(ir::Op op, DType dtype);

}  // namespace sinter::codegen
