// How each reduction is summed, fixed before kernel boundaries are drawn (SEMANTICS F1, F2).
#pragma once

#include "runtime/base/target.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// REDUCE(Add, a * b) on floats becomes REDUCE(Dot; a, b), and every float REDUCE gets its ReductionTree: from its
/// shape (bounds of symbolic sizes), its dtype and the way its sources lie in memory, and from the kind of machine, but
/// from nothing else: not from consumers, threads or fusion. Sources that lie in order along the reduced axes are
/// summed in lanes: on a CPU those of a vector, or of a part of one that divides a row of several, on a GPU those of a
/// block's threads, which integers are shared among as well. Sums over the outermost axis are cut into blocks of it,
/// unless they are products of matrices, so that they may run across the outer ranges of a kernel
/// (schedule/fusion/split_reductions.cpp). All others are one chain. The largest element of an ArgMax becomes a Max,
/// but beside its place where one chain gives the bits of the other.
void choose_reductions(PlanGraph& plan, const runtime::Target& target);

/// How many of so many rows are summed by themselves; 0 where they are too few for that.
int64_t rows_in_block(int64_t rows, const Prices& prices);

/// Both factors are repeated along an axis, so that each of their elements serves several results
/// (docs/decisions/0033).
bool is_contraction(ir::Combine combine, const std::vector<ir::UOp>& values);

}  // namespace sinter::schedule
