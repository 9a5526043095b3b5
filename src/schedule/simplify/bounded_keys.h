// Masks that bound the keys of a row, as causal ones and windows do, and the blocks of keys that they leave something
// of.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

struct BoundedKeys {
  UOp scores;
  UOp seen;  ///< bool, [.., queries, blocks]; null if no mask bounds the keys
};

/// In:  scores x, [.., queries, keys], which are -inf where masks are false: WHERE(mask, .., -inf).
/// Out: the same scores, in which comparisons of a key's position with a constant or with the position along another
///      axis are made of positions without arithmetic, so that any kernel may compute them; and a condition that is
///      false only where such masks hide all `size` keys of a block.
BoundedKeys bound_keys(UOp x, int64_t size, int64_t blocks);

/// For tiles of so many queries by so many keys, [.., tiles of queries, tiles of keys]: false only where masks that
/// compare the positions of both hide all keys of the tile from all of its queries. Null if no mask does.
UOp seen_tiles(UOp x, int64_t queries, int64_t keys);

}  // namespace sinter::schedule
