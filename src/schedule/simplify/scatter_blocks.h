// Blocks for long scatters: what one task does in order is a block of the updates, not all of them.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

inline constexpr int64_t kScatterBlock = 4096;  ///< updates of a block at least,
inline constexpr int64_t kScatterReuse = 4;     ///< and as many times the elements of the result,
inline constexpr int64_t kVectorReuse = 16;     ///< or of each row, if rows are updated side by side as vectors
inline constexpr int64_t kScatterBlocks = 256;  ///< blocks at most
inline constexpr int64_t kScatterRows = 32;     ///< rows from which on rows are tasks enough

/// The blocks of a scatter of `updates` to each of `rows` rows of `elements` elements: a divisor of `updates`, if there
/// is a large one. 0: it has none.
int64_t scatter_blocks(int64_t updates, int64_t elements, int64_t rows);

/// Cuts SCATTERs of many updates to few rows of few elements. The updates of a block are scattered into a table of its
/// own, of identities; the tables of all blocks are reduced, and their result joins the base. The updates that blocks
/// of equal lengths leave over, fewer than there are blocks, follow in order. So the result of sums and products of
/// floats is
///   base | (block | block | ..) | update | update | ..
/// with | the op of the mode. An element stays as it is, also -0.0, if the sum of the blocks is 0. A scatter that sets
/// sets the positions of the updates, takes the largest of all blocks, and then picks the updates there.
///
/// The blocks follow from the sizes alone. Scatters of symbolic sizes have none.
void cut_scatters(PlanGraph& plan);

}  // namespace sinter::schedule
