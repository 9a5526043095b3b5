// Identities of integers that wrap. Index expressions have their own canonical form (rewrite/rules/index_expr.cpp).
#include "rewrite/rules/rules.h"

namespace sinter::ir {
namespace {

using namespace pattern;

constexpr Pattern x = any(0), y = any(1), c0 = cst(4), c1 = cst(5);
constexpr Domain kInts = Domain::Integer;

bool y_varies(const Match& m) {
  Scalar value;
  return !splat_of(m[y], value);
}

bool is_not_signed(const Match& m) { return is_unsigned(m.root->dtype); }
bool is_signed(const Match& m) { return !is_not_signed(m); }

// clang-format would take products for pointers.
// clang-format off
constexpr Rule kAlgebra[] = {
    {"add-zero", x + 0, x, kInts},
    {"sub-self", x - x, 0, kInts},
    {"sub-constant", x - c0, x + (-c0), kInts},
    {"add-constants", (x + c0) + c1, x + (c0 + c1), kInts},
    {"add-constant-last", (x + c0) + y, (x + y) + c0, kInts, y_varies},
    {"add-to-difference", (c0 - x) + c1, (c0 + c1) - x, kInts},
    {"sub-constant-last", (x + c0) - y, (x - y) + c0, kInts},
    {"sub-sum-constant", x - (y + c0), (x - y) + (-c0), kInts},
    {"add-negated", x + (-y), x - y, kInts},
    {"sub-negated", x - (-y), x + y, kInts},
    {"add-sub", (x - y) + y, x, kInts},
    {"sub-add", (x + y) - y, x, kInts},
    {"double", x + x, x * 2, kInts},
    {"collect-one", x * c0 + x, x * (c0 + 1), kInts},
    {"collect", x * c0 + x * c1, x * (c0 + c1), kInts},
    {"negate-twice", -(-x), x, kInts},
    {"negate-difference", -(x - y), y - x, kInts},
    {"negate-multiple", -(x * c0), x * (-c0), kInts},
    {"negate-sum", -(x + c0), (-c0) - x, kInts},
    {"mul-zero", x * 0, 0, kInts},
    {"mul-one", x * 1, x, kInts},
    {"mul-minus-one", x * -1, -x, kInts},
    {"mul-constants", (x * c0) * c1, x * (c0 * c1), kInts},
    {"mul-constant-last", (x * c0) * y, (x * y) * c0, kInts, y_varies},
    {"mul-negated", (-x) * c0, x * (-c0), kInts},
    {"mul-both-negated", (-x) * (-y), x * y, kInts},
    {"divide-by-zero", idiv(x, 0), 0, kInts},
    {"divide-by-one", idiv(x, 1), x, kInts},
    {"modulo-zero", x % 0, 0, kInts},
    {"modulo-one", x % 1, 0, kInts},
    {"modulo-twice", (x % y) % y, x % y, kInts},
    {"abs-twice", abs(abs(x)), abs(x), kInts},
    {"abs-negated", abs(-x), abs(x), kInts, is_signed},
    {"abs-unsigned", abs(x), x, kInts, is_not_signed},
    {"max-self", max(x, x), x, Domain::Number},
    {"min-self", min(x, x), x, Domain::Number},
    {"max-again", max(max(x, y), y), max(x, y), kInts},
    {"min-again", min(min(x, y), y), min(x, y), kInts},
    {"max-constants", max(max(x, c0), c1), max(x, max(c0, c1)), kInts},
    {"min-constants", min(min(x, c0), c1), min(x, min(c0, c1)), kInts},
    {"max-of-min", max(min(x, y), y), y, kInts},
    {"min-of-max", min(max(x, y), y), y, kInts},
    {"and-zero", x & 0, 0, kInts},
    {"and-ones", x & -1, x, kInts},
    {"and-constants", (x & c0) & c1, x & (c0 & c1), kInts},
    {"or-zero", x | 0, x, kInts},
    {"or-ones", x | -1, -1, kInts},
    {"or-constants", (x | c0) | c1, x | (c0 | c1), kInts},
    {"xor-zero", x ^ 0, x, kInts},
    {"xor-self", x ^ x, 0, kInts},
    {"xor-ones", x ^ -1, !x, kInts},
    {"xor-constants", (x ^ c0) ^ c1, x ^ (c0 ^ c1), kInts},
    {"shl-zero", op(Op::Shl, x, 0), x, kInts},
    {"shr-zero", op(Op::Shr, x, 0), x, kInts},
};
// clang-format on

}  // namespace

const RuleSet& algebra_rules() {
  static const RuleSet& rules = *new RuleSet(std::span<const Rule>(kAlgebra));  // never destroyed (SEMANTICS V7)
  return rules;
}

}  // namespace sinter::ir
