// Blocks for long float sums: the rounding error grows with the block, not with the sum.
#pragma once

#include <vector>

#include "ir/attr.h"
#include "sinter/shape.h"

namespace sinter::schedule {

inline constexpr int64_t kLongestChain = 1024;  ///< elements in one chain at most
inline constexpr int64_t kChain = 512;          ///< elements of a chain in longer sums

/// The ReductionTree of a float sum over `axes`, outermost first. `tree` has the lanes and the block that the schedule
/// wants, or 0. It follows from the sizes alone (bounds of symbolic ones).
///
/// No chain is longer than kLongestChain elements, unless sizes divide badly. Longer sums have blocks of about kChain
/// elements per chain. More than ReductionTree::kFanIn blocks are joined in groups. Blocks and groups end where an axis
/// ends, or divide it, if the sizes permit.
///
/// The error is that of adding kChain numbers one by one, and kFanIn more per level of groups (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 4.2): within four times that of blocks of 256 whose sums are added
/// pairwise.
ir::ReductionTree blocked_tree(const std::vector<Dim>& axes, ir::ReductionTree tree);

}  // namespace sinter::schedule
