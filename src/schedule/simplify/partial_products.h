// Sums of products whose blocks are results of their own first, so that a GPU has more tiles to share out.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "runtime/base/target.h"

namespace sinter::schedule {

/// A sum of products in two steps: of each block over `axes`, then of the blocks' results over `blocks`.
struct PartialProducts {
  std::vector<ir::UOp> values;  ///< both factors; a summed axis may be cut in two
  ir::Ints axes;
  ir::Ints blocks;  ///< axes of what the first step leaves
  int64_t count;    ///< of blocks
};

/// The two steps of a sum by `tree` over `axes` of the product of `values`, which add in the tree's order. None unless
///  - the target is a GPU, and the summed axes have fixed sizes;
///  - the tree has blocks, all of one length, and one lane;
///  - a block is some axes whole and a part of one more;
///  - there are fewer tiles of results than the GPU needs;
///  - its second cache holds what the first step leaves.
std::optional<PartialProducts> partial_products(const std::vector<ir::UOp>& values, const ir::Ints& axes,
                                                const ir::ReductionTree& tree, const runtime::Target& target);

}  // namespace sinter::schedule
