// Attention on tensor cores: the softmax between two products in one sweep over the keys.
#pragma once

#include "runtime/base/target.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  REDUCE(Add, view(cast(e / expand(l))) * y) over rows of e, with e = exp(x - maximum) and l the sum of e, where
///      x is made of a product on tensor cores and this sum is another one.
/// Out: the rows in blocks of keys, the last one padded with scores of -inf. A block has its own maximum m, e = exp(x -
/// m), l = sum of e, and the product
///      o = REDUCE(Add, cast(e) * y). ExpSum joins the blocks' o and l; their quotient is the result.
/// The products are no longer apart, so neither scores nor weights need be stored. Weights are rounded before the
/// division, not after it.
/// Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Dao, "FlashAttention-2" (2023).
/// Decided by shapes, types and the target alone (SEMANTICS F2, F3).
/// The sums that are its gradients are rewritten as well (softmax_gradient.h).
void roll_softmax(PlanGraph& plan, const runtime::Target& target);

/// The softmax over the last axis of scores x in blocks of keys.
struct SoftmaxBlocks {
  UOp e;             ///< exp(x - maximum of the block), [.., queries, blocks, keys]
  UOp maximum, sum;  ///< of a block; -inf and 0 where a mask hides all of it from the row
  UOp seen;          ///< as BoundedKeys::seen
  UOp scores;        ///< x, with its masks as bound_keys() makes them
};

/// Whether the softmax of x is computed in blocks.
bool has_softmax_blocks(UOp x);
SoftmaxBlocks softmax_in_blocks(ir::Graph& g, UOp x);
/// The logarithm of a row's sum of exp(x).
UOp log_of_sum(const SoftmaxBlocks& blocks);
/// What roll_softmax() makes of the sum; null if it leaves it.
UOp roll_weighted_sum(ir::Graph& g, UOp sum);

}  // namespace sinter::schedule
