// The graph-to-graph passes, in the order in which codegen/codegen.cpp runs them.
#pragma once

#include "codegen/kernel/kernel.h"
#include "ir/graph.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In:  any kernel.
/// Out: the same values. 16-bit floats are only loaded, stored, selected and converted from and to float32. Every op
/// that computed in a 16-bit float computes in float32 and rounds its result to the type, so an intermediate value has
/// the bits that a stored one would have. Must run before expand_math(), which handles float32 and float64 only.
UOp widen_short_floats(ir::Graph& g, UOp sink);

/// Whether a node computes in a 16-bit float, or converts between one and a type other than float32.
bool computes_in_short_float(UOp n);

/// The same computation in `g` without kDecomposed ops. Expansions are elementwise, branch-free and of the op's shape;
/// math_ops.h documents algorithms and errors. If `root` is in another graph, all of it is rebuilt in `g`. Throws
/// InternalError for a function on a type without an expansion (all but float32 and float64).
UOp expand_math(ir::Graph& g, UOp root);

/// Upper bound on the error of an expansion, in ulp of the exact result (the spacing of floats in its binade, denormals
/// included); 0 if the result is exact. Throws InternalError as expand_math does.
double max_ulp(Op op, DType dtype);

/// In:  a kernel whose reductions are not split yet.
/// Out: the same values. A blocked REDUCE never shares loops with a STORE. If it reduces the value of a STORE of the
/// kernel, it loads the stored value instead of recomputing it, and the STORE moves to the front.
UOp reload_stores(const Kernel& kernel);

/// In:  REDUCEs with any ReductionTree over any ranges.
/// Out: the same values in the same order of combination. No ReductionTree has a block. A tree with lanes has a single
/// range, or a last range whose bound is a multiple of the lanes. A bound may now be an expression of ranges outside
/// it. How: a blocked REDUCE becomes a REDUCE over blocks of a REDUCE within a block; groups become one more REDUCE,
/// over groups. Ranges that lanes or blocks straddle are flattened into one. If one sum runs over a range in equal
/// blocks, the range is split for all of its users, so that they share loops and the values computed in them.
UOp split_reductions(ir::Graph& g, UOp sink);

/// Throws InternalError unless `sink` is in the form above.
void verify_reductions(UOp sink);

/// In:  a kernel without kDecomposed ops and without arithmetic on 16-bit floats.
/// Out: the same values. Arithmetic on bool becomes logic. A div or mod of non-negative indices by positive ones
/// becomes unsigned, where C's truncation equals the floor of the semantics, and 32-bit if the operands fit, which is
/// faster. The rest of SEMANTICS F5 (division by zero, wrapping, shifts, saturating casts) is handled in render/.
UOp legalize(ir::Graph& g, UOp sink);

/// Throws InternalError unless `sink` is in the form above. Also throws for 8-bit floats, which no target has.
void verify_legal(UOp sink);

/// In:  any kernel.
/// Out: the same values. If both factors of a product have the same predicate and are +0 where it is false, a factor
/// that is a LOAD keeps only the conjuncts that depend on no range outside its index, provided that they keep it in
/// bounds; a select applies the whole predicate. The loaded value then does not depend on the predicate's other ranges.
UOp select_by_predicate(ir::Graph& g, UOp sink);

/// In:  a kernel with adjacent outer ranges of fixed sizes that are contiguous in memory and in every index: rows and
/// columns of elementwise values, or batches and heads of row-major ones.
/// Out: the same stores with one range for them. Its loop is long, divides into vectors with at most one remainder, and
/// is written once. Several dims of a Param that these ranges index become one dim. Tasks keep their order.
void collapse_axes(Kernel& kernel);

/// In:  a kernel with an epilogue.
/// Out: the epilogue's SINK as a kernel. On a CPU it has no outer ranges: one thread runs it. On a GPU the ranges of
/// constant size common to all of its stores become outer ranges, so that many blocks share the work, unless a
/// task may read what another one writes. Those that are contiguous are collapsed.
Kernel make_epilogue_kernel(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
