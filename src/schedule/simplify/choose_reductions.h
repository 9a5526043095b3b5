// Fixes the summation order of each reduction before the partition (SEMANTICS F1, F2).
#pragma once

#include "runtime/base/target.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// REDUCE(Add, a * b) on floats becomes REDUCE(Dot; a, b), and every float REDUCE gets its ReductionTree. The tree
/// follows from the shape (bounds of symbolic sizes), the dtype, the strides of the sources and the kind of machine. It
/// never depends on consumers, threads or fusion.
///
/// Sources that are contiguous along the reduced axes are summed in lanes. On a CPU these are the lanes of a vector, or
/// of a part of one that divides the row. On a GPU they are the threads of a block, and integers use them too. A sum
/// over the outermost axis is cut into blocks, so that it can cross the outer ranges of a kernel
/// (schedule/fusion/split_reductions.cpp), unless it is a contraction. All others are one chain.
///
/// The largest element of an ArgMax becomes a Max. It stays an ArgMax if the plan also wants its position and the
/// reduction is a single chain: the bits are the same then.
void choose_reductions(PlanGraph& plan, const runtime::Target& target);

/// Rows per block of a sum over `rows` rows; 0 if there are too few to cut.
int64_t rows_in_block(int64_t rows, const Prices& prices);

/// Whether every factor is broadcast along an axis, so that each of its elements serves several results
/// (docs/decisions/0033).
bool is_product(ir::Combine combine, const std::vector<UOp>& values);

/// Whether a product's results are enough to share among threads, so that its sum stays whole. One with few results and
/// a long sum is cut into blocks as other sums are; on a GPU partial_products() cuts it.
bool is_contraction(UOp reduce, const Prices& prices);

}  // namespace sinter::schedule
