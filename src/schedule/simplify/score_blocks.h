// Scores, products of queries and keys, as what is between two products, a block at a time: of keys for a query, or of
// queries for a key.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

inline constexpr int64_t kMinScoreRows = 16;        ///< rows of a tensor core's tile
inline constexpr int64_t kMaxPairedFeatures = 128;  ///< of the results of a product whose factor is made of scores

/// Elements of a block of `size`, at most `most` and at least 32, of which there are two or more: as many as possible
/// while few of the last block do not exist. 0 if there are too few.
int64_t elements_of_block(int64_t size, int64_t most);

/// Whether a value does not differ along an axis.
bool lacks(UOp value, int64_t axis);

/// Whether n, [.., queries, keys], is a sum of products of 16-bit values over one short axis: of rows that lack the
/// keys and columns that lack the queries.
bool is_score_product(UOp n);

/// How many reductions stand below x and the elementwise ops on top of them, if all are such products; else -1.
int score_products_below(UOp x);

/// The shape with an axis of blocks and one of their elements in place of `axis`.
Shape in_blocks(const Shape& shape, int64_t axis, int64_t block);

/// A value with a longer axis: repeated where it does not differ along the axis, else 0 beyond its end.
UOp continued(UOp n, int64_t axis, int64_t size);

/// What elementwise ops make of score products and other values, computed from factors with a longer axis, which end in
/// 0. Nodes in `known` are replaced by theirs, which have the new shape.
class ScoresOfFactors {
 public:
  ScoresOfFactors(ir::Graph& graph, int64_t axis, int64_t size, int64_t block)
      : graph_(graph), axis_(axis), size_(size), block_(block) {}

  /// With a `block` the axis is one of blocks and one of their elements.
  UOp made(UOp x);
  /// The same with scores of -inf behind the end of x, which weigh nothing.
  UOp made_of_scores(UOp x);

  std::unordered_map<UOp, UOp> known = {};

 private:
  UOp leaf(UOp n, int64_t axis) const;

  ir::Graph& graph_;
  int64_t axis_, size_, block_;
};

}  // namespace sinter::schedule
