// Arithmetic on index expressions that simplifies while it builds: sums of products, floor division and modulo by
// intervals, comparisons and predicates. Rangeify, partition and the rules of rewrite/rules/index_expr.cpp all go
// through it.
#pragma once

#include <unordered_map>
#include <vector>

#include "rewrite/interval.h"
#include "rewrite/linear.h"

namespace sinter::ir {

/// The conditions that a condition joins by And, each once, by id.
std::vector<UOp> conjuncts(UOp x);

/// Expressions of dtype Index (and bool, for conditions) of one graph. Every function returns the simplified node,
/// given simplified operands, and is idempotent: what it returns it returns again. Nothing is remembered between
/// objects but through interning, so one may be made for a single expression.
class IndexMath {
 public:
  explicit IndexMath(Graph& g) : graph_(&g) {}
  /// As `outer`, where `condition` also has the given value.
  IndexMath(const IndexMath& outer, UOp condition, bool value = true);

  UOp constant(int64_t value);
  UOp add(UOp a, UOp b);
  UOp sub(UOp a, UOp b);
  UOp mul(UOp a, UOp b);
  UOp div(UOp a, UOp b);  ///< floor; x/0 = 0
  UOp mod(UOp a, UOp b);  ///< sign of b; x%0 = 0
  UOp lt(UOp a, UOp b) { return compare(Op::Lt, a, b); }
  UOp le(UOp a, UOp b) { return compare(Op::Le, a, b); }
  /// Lt, Le, Eq or Ne of two Index values; sums are brought to the form "sum < constant".
  UOp compare(Op op, UOp a, UOp b);
  /// a and b, without what the other one implies. A null operand is always true; so is a null result of nothing but
  /// nulls.
  UOp conjoin(UOp a, UOp b);
  /// The value of dtype Index of an integer expression; pure index arithmetic loses its casts.
  UOp to_index(UOp x);

  /// Simplifies a whole expression under the facts: every Index and bool ALU node in it, down to loads and ranges.
  UOp simplify(UOp x);
  Interval bounds(UOp x) { return with_facts_.of(x); }

 private:
  struct DivModParts;
  UOp rebuild(UOp x, const std::vector<UOp>& src);
  UOp conjunction(UOp x);
  UOp simplify_where(UOp x, const std::vector<UOp>& src);
  UOp simplify_minmax(UOp x, const std::vector<UOp>& src);
  LinearExpr normalize(LinearExpr sum);
  bool join_digits(LinearExpr& sum);
  DivModParts split_divmod(LinearExpr sum, int64_t d);
  LinearExpr divide(const LinearExpr& sum, int64_t d);
  LinearExpr modulo(const LinearExpr& sum, int64_t d);
  LinearExpr divide_symbolic(const LinearExpr& sum, UOp divisor, bool remainder);
  UOp compare_sum(Op op, LinearExpr difference);
  UOp bool_constant(bool value);

  Graph* graph_;
  int depth_ = 0;  ///< of conditions inside conditions: bounds the work on nested predicates
  IntervalAnalysis
      without_facts_;  ///< without facts: decides between forms, so that a form does not depend on where it is used
  IntervalAnalysis with_facts_;  ///< with facts: decides what can be left out
  std::unordered_map<const Node*, UOp> done_;
};

}  // namespace sinter::ir
