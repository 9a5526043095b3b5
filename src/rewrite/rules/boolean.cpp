// Conditions, comparisons and selects. Rules that hold for NaN as well have the domain Any.
#include "rewrite/rules/rules.h"

namespace sinter::ir {
namespace {

using namespace pattern;

constexpr Pattern x = any(0), y = any(1), z = any(2), c = any(3), d = any(4), c0 = cst(5);
constexpr Domain kBool = Domain::Bool, kAny = Domain::Any;
constexpr Domain kOrdered = Domain::Index | Domain::Integer;  // no NaN

/// Conditions that raise an error are never dropped, even if nothing else depends on them.
bool raises_nothing(const Match& m) {
  for (UOp part : conjuncts(m[c]))
    if (part->op == Op::Check) return false;
  return true;
}

// clang-format would take products for pointers.
// clang-format off
constexpr Rule kBoolean[] = {
    {"and-true", x & 1, x, kBool},
    {"and-false", x & 0, 0, kBool},
    {"or-true", x | 1, 1, kBool},
    {"or-false", x | 0, x, kBool},
    {"xor-false", x ^ 0, x, kBool},
    {"xor-true", x ^ 1, !x, kBool},
    {"xor-same", x ^ x, 0, kBool},
    {"and-same", x & x, x, kAny},
    {"or-same", x | x, x, kAny},
    {"and-again", (x & y) & y, x & y, kAny},
    {"or-again", (x | y) | y, x | y, kAny},
    {"and-not", x & !x, 0, kBool},
    {"or-not", x | !x, 1, kBool},
    {"and-absorbs", x & (x | y), x, kAny},
    {"or-absorbs", x | (x & y), x, kAny},
    {"not-twice", !(!x), x, kOrdered | kBool},
    {"add-is-or", x + y, x | y, kBool},
    {"mul-is-and", x * y, x & y, kBool},
    {"max-is-or", max(x, y), x | y, kBool},
    {"min-is-and", min(x, y), x & y, kBool},
    {"not-less", !(x < y), y <= x, kOrdered},
    {"not-less-equal", !(x <= y), y < x, kOrdered},
    {"not-equal", !(x == y), x != y, kAny},
    {"not-not-equal", !(x != y), x == y, kAny},
    {"less-self", x < x, 0, kAny},
    {"less-equal-self", x <= x, 1, kOrdered | kBool},
    {"equal-self", x == x, 1, kOrdered | kBool},
    {"not-equal-self", x != x, 0, kOrdered | kBool},
    {"less-is-and-not", x < y, y & !x, kBool},
    {"less-equal-is-or-not", x <= y, y | !x, kBool},
    {"equal-true", x == 1, x, kBool},
    {"equal-false", x == 0, !x, kBool},
    {"not-equal-is-xor", x != y, x ^ y, kBool},
    {"where-true", where(1, x, y), x, kAny},
    {"where-false", where(0, x, y), y, kAny},
    {"where-same", where(c, x, x), x, kAny, raises_nothing},
    {"where-not", where(!c, x, y), where(c, y, x), kAny},
    {"where-is-condition", where(c, 1, 0), c, kBool},
    {"where-is-negation", where(c, 0, 1), !c, kBool},
    {"where-again-true", where(c, where(c, x, y), z), where(c, x, z), kAny},
    {"where-again-false", where(c, x, where(c, y, z)), where(c, x, z), kAny},
    {"where-both", where(c, where(d, x, y), y), where(c & d, x, y), kAny},
    {"where-either", where(c, x, where(d, x, y)), where(c | d, x, y), kAny},
    {"at-most-of-where", where(x <= c0, c0, x) <= c0, x <= c0, kAny},
    {"at-least-of-where", c0 <= where(c0 <= x, c0, x), c0 <= x, kAny},
    {"above-of-where", c0 < where(c0 < x, x, c0), c0 < x, kAny},
    {"below-of-where", where(x < c0, x, c0) < c0, x < c0, kAny},
};
// clang-format on

}  // namespace

const RuleSet& boolean_rules() {
  static const RuleSet& rules = *new RuleSet(std::span<const Rule>(kBoolean));  // never destroyed (SEMANTICS V7)
  return rules;
}

}  // namespace sinter::ir
