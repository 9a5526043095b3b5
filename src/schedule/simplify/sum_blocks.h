// Long float sums in blocks, whose error grows with the block and not with the sum.
#pragma once

#include <vector>

#include "ir/attr.h"
#include "sinter/shape.h"

namespace sinter::schedule {

inline constexpr int64_t kLongestChain = 1024;  ///< elements that are added one by one
inline constexpr int64_t kChain = 512;          ///< of each block, where there are more

/// The ReductionTree of a float sum over some axes, outermost first. `tree` has the lanes and the block that its
/// schedule wants, or 0. No chain is longer than kLongestChain elements, but where sizes divide badly: sums beyond that
/// have blocks of about kChain elements a chain, and more than ReductionTree::kFanIn blocks are joined in groups. Both
/// end where an axis does, or divide it, if its sizes let them. Follows from sizes (of symbolic ones the bounds). The
/// error is that of adding kChain numbers one by one, and kFanIn for each level of groups (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 4.2): within four times that of blocks of 256 whose sums are added
/// pairwise.
ir::ReductionTree blocked_tree(const std::vector<Dim>& axes, ir::ReductionTree tree);

}  // namespace sinter::schedule
