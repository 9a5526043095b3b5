// What is known of an integer expression: bounds, a number that divides it, and what a predicate has promised.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "rewrite/linear.h"

namespace sinter::ir {

/// lo <= value <= hi, and `multiple` divides the value (0: it is 0).
struct Interval {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  int64_t multiple = 1;

  bool single() const { return lo == hi; }
  bool within(int64_t a, int64_t b) const { return a <= lo && hi <= b; }
};

/// Conditions that hold where an expression is used: those of the predicate around it.
class Facts {
 public:
  struct Constraint {
    LinearExpr core;  ///< no constant, first factor positive, factors without a common divisor
    int64_t lo, hi;
  };

  /// Adds that `condition` (a bool expression) is `value`; understands And, Or, Not and comparisons of Index sums.
  void assume(UOp condition, bool value = true);

  bool empty() const { return constraints_.empty() && known_.empty(); }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  /// 1: it holds; 0: it does not; -1: nothing was said of this very node.
  int known(UOp condition) const;

 private:
  void bound(const LinearExpr& sum, bool has_lo, int64_t hi);
  std::vector<Constraint> constraints_;
  std::vector<std::pair<UOp, bool>> known_;
};

/// Interval analysis under some facts; remembers what it has computed. For expressions of integer and bool type; of
/// dtype Index it assumes that nothing overflows, for the others a result that might wrap is anything of its type.
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
  std::shared_ptr<IntervalAnalysis> unconditional_;  ///< without the facts, when needed
};

/// Everything that a type can hold.
Interval bounds_of(DType dtype);

}  // namespace sinter::ir
