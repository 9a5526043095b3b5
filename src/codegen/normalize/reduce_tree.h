// Brings every REDUCE into a form that one loop nest follows.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  REDUCEs with any ReductionTree over any ranges.
/// Out: the same values in the same order of combination; no ReductionTree has a block, and one with lanes has a single
/// range, or a last range
///      whose bound is a multiple of the lanes. A bound may then be an expression of ranges outside it.
/// How: blocks become a REDUCE over blocks of a REDUCE inside a block, groups one over groups of these; ranges that
/// lanes or blocks run across are flattened into one. A range that one sum goes over in equal blocks is two ranges for
/// all that go over it, so that they share loops, and what is computed there.
ir::UOp split_reductions(ir::Graph& g, ir::UOp sink);

/// Throws InternalError unless `sink` is in the form above.
void verify_reductions(ir::UOp sink);

}  // namespace sinter::codegen
