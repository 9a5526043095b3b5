// Index arithmetic that simplifies during construction: sums of products, floor division and modulo by intervals,
// comparisons and predicates. Rangeify, partition and the rules of rewrite/rules/index_expr.cpp all use it.
#pragma once

#include <unordered_map>
#include <vector>

#include "rewrite/interval.h"
#include "rewrite/linear.h"

namespace sinter::ir {

/// The operands of a conjunction, without duplicates, ordered by id.
std::vector<UOp> conjuncts(UOp x);
/// False, in place of a conjunction that never holds. Its checks stay, as checks of false: they raise errors, whatever
/// the other conditions are.
UOp contradiction(UOp x);

/// Expressions of dtype Index (and bool, for conditions) of one graph. Every function expects simplified operands,
/// returns the simplified node, and is idempotent. Objects share no state except through interning, so creating one for
/// a single expression is fine.
class IndexMath {
 public:
  explicit IndexMath(Graph& g) : graph_(&g) {}
  /// The facts of `outer`, and `condition` has the given value.
  IndexMath(const IndexMath& outer, UOp condition, bool value = true);

  UOp constant(int64_t value);
  UOp add(UOp a, UOp b);
  UOp sub(UOp a, UOp b);
  UOp mul(UOp a, UOp b);
  UOp div(UOp a, UOp b);  ///< floor; x/0 = 0
  UOp mod(UOp a, UOp b);  ///< sign of b; x%0 = 0
  UOp lt(UOp a, UOp b) { return compare(Op::Lt, a, b); }
  UOp le(UOp a, UOp b) { return compare(Op::Le, a, b); }
  /// Lt, Le, Eq or Ne of two Index values. Sums are normalized to "sum < constant".
  UOp compare(Op op, UOp a, UOp b);
  /// a and b, each without what the other implies. Null means true, as operand and as result.
  UOp conjoin(UOp a, UOp b);
  /// The Index value of an integer expression, without the casts of pure index arithmetic. Null if there is none.
  UOp to_index(UOp x);

  /// Simplifies a whole expression under the facts: all Index and bool ALU nodes, down to loads and ranges.
  UOp simplify(UOp x);
  Interval bounds(UOp x) { return with_facts_.of(x); }

 private:
  struct DivModParts;
  UOp rebuild(UOp x, const std::vector<UOp>& src);
  UOp conjunction(UOp x);
  UOp simplify_where(UOp x, const std::vector<UOp>& src);
  UOp simplify_minmax(UOp x, const std::vector<UOp>& src);
  LinearExpr normalize(LinearExpr sum);
  bool recombine_divmod(LinearExpr& sum);
  DivModParts split_divmod(LinearExpr sum, int64_t d);
  LinearExpr divide(const LinearExpr& sum, int64_t d);
  LinearExpr modulo(const LinearExpr& sum, int64_t d);
  LinearExpr divide_symbolic(const LinearExpr& sum, UOp divisor, bool remainder);
  UOp compare_sum(Op op, LinearExpr difference);
  UOp bool_constant(bool value);

  Graph* graph_;
  int depth_ = 0;                   ///< nesting of conditions; bounds the work on nested predicates
  IntervalAnalysis without_facts_;  ///< picks canonical forms, which must not depend on the point of use
  IntervalAnalysis with_facts_;     ///< decides what can be dropped
  std::unordered_map<const Node*, UOp> done_;
};

}  // namespace sinter::ir
