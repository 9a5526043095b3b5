// Splits REDUCEs into a form that one loop nest computes.
#pragma once

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// In:  REDUCEs with any ReductionTree over any ranges.
/// Out: the same values in the same order of combination. No ReductionTree has a block. A tree with lanes has a single
/// range, or a last range whose bound is a multiple of the lanes. A bound may now be an expression of ranges outside
/// it. How: a blocked REDUCE becomes a REDUCE over blocks of a REDUCE within a block; groups become one more REDUCE,
/// over groups. Ranges that lanes or blocks straddle are flattened into one. If one sum runs over a range in equal
/// blocks, the range is split for all of its users, so that they share loops and the values computed in them.
UOp split_reductions(ir::Graph& g, UOp sink);

/// Throws InternalError unless `sink` is in the form above.
void verify_reductions(UOp sink);

}  // namespace sinter::codegen
