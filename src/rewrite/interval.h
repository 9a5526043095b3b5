// What is known of an integer expression: bounds, a divisor, and the facts that a predicate implies.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rewrite/linear.h"

namespace sinter::ir {

/// lo <= value <= hi, and `multiple` divides the value (0: the value is 0).
struct Interval {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  int64_t multiple = 1;

  bool single() const { return lo == hi; }
  bool within(int64_t a, int64_t b) const { return a <= lo && hi <= b; }
};

/// Conditions that hold where an expression is used: those of the enclosing predicate.
class Facts {
 public:
  struct Constraint {
    LinearExpr core;  ///< no constant; first factor positive; factors have no common divisor
    int64_t lo, hi;
  };

  /// Records that `condition` (a bool expression) is `value`. Understands And, Or, Not and comparisons of Index sums.
  void assume(UOp condition, bool value = true);

  bool empty() const { return constraints_.empty() && known_.empty(); }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  /// 1 if true, 0 if false, -1 if no fact names this very node.
  int known(UOp condition) const;

 private:
  void add_constraint(const LinearExpr& sum, bool has_lo, int64_t hi);
  std::vector<Constraint> constraints_;
  std::vector<std::pair<UOp, bool>> known_;
};

/// Interval analysis under facts, memoized, for integer and bool expressions. Index arithmetic is assumed not to
/// overflow. In other types a result that may wrap has the bounds of its type.
class IntervalAnalysis {
 public:
  IntervalAnalysis() = default;
  explicit IntervalAnalysis(Facts facts) : facts_(std::move(facts)) {}

  Interval of(UOp x);
  Interval of(const LinearExpr& sum);
  const Facts& facts() const { return facts_; }

 private:
  Interval compute(UOp x);
  Interval alu(UOp x);
  void tighten(const LinearExpr& sum, Interval& b);
  void tighten_atom(UOp x, const Facts::Constraint& fact, Interval& b);
  Interval bounds_of_terms(const LinearExpr& sum);

  Facts facts_;
  std::unordered_map<const Node*, Interval> memo_;
  std::shared_ptr<IntervalAnalysis> unconditional_;  ///< without the facts; created on demand
};

/// The range of a type.
Interval bounds_of(DType dtype);

}  // namespace sinter::ir
