// Index expressions as sums: factor * atom + ... + constant. An atom is anything but a sum or a multiple: a Range, a
// Var, a div, a mod, a product of two atoms. Expressions with equal sums are the same node after to_uop.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

struct LinearTerm {
  UOp atom;
  int64_t factor;
  friend bool operator==(const LinearTerm&, const LinearTerm&) = default;
};

struct LinearExpr {
  std::vector<LinearTerm> terms;  ///< ordered by atom id, each atom once, no factor 0
  int64_t constant = 0;

  bool is_constant() const { return terms.empty(); }
  /// The factor of an atom; 0 if it does not occur.
  int64_t factor(UOp atom) const;
  friend bool operator==(const LinearExpr&, const LinearExpr&) = default;
};

/// The operands of a tree of one op, last first: the factors of a product, the conditions of a conjunction.
std::vector<UOp> operands_of(UOp root, Op op);

/// The sum of an expression of dtype Index, through Add, Sub, Neg and Mul by a Const.
LinearExpr linear_of(UOp index);
inline LinearExpr linear_of(int64_t constant) { return {{}, constant}; }
/// The canonical expression of a sum: positive terms, then negative ones, then the constant.
UOp to_uop(Graph& g, const LinearExpr& sum);

/// a + scale * b
LinearExpr plus(const LinearExpr& a, const LinearExpr& b, int64_t scale = 1);
LinearExpr times(const LinearExpr& a, int64_t scale);
/// a * b, expanded.
LinearExpr product(const LinearExpr& a, const LinearExpr& b);
/// Recombines a quotient and remainder of one dividend: k * n * (x / n) + k * (x % n) is k * x. An axis that was split
/// but is contiguous in memory is one axis again.
LinearExpr merge_divmod(LinearExpr sum);
/// The largest k for which k times each of `part`'s terms occurs in `whole`; 0 if there is none.
int64_t ratio(const LinearExpr& whole, const LinearExpr& part);
/// Greatest common divisor of the factors; 0 for a constant.
int64_t common_factor(const LinearExpr& sum);

int64_t floor_div(int64_t x, int64_t y);  ///< y > 0
inline int64_t floor_mod(int64_t x, int64_t y) { return x - y * floor_div(x, y); }
/// Gets the value of a Const of any integer type. False for any other node.
bool constant_of(UOp x, int64_t& value);

}  // namespace sinter::ir
