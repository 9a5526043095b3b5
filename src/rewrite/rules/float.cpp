// Only rules that are exact for every float. A sum with 0 is not folded (-0 + 0 is 0) unless another one follows, nor
// is a product with 0 (NaN). Nothing is reassociated. The sign of a NaN is ignored.
#include <cmath>

#include "rewrite/rules/rules.h"

namespace sinter::ir {
namespace {

using namespace pattern;

constexpr Pattern x = any(0), y = any(1), c0 = cst(4);
constexpr Domain kFloat = Domain::Float;

/// Division by a power of two is multiplication by the reciprocal, if that is a normal number of the type.
bool reciprocal_exact(const Match& m) {
  int exponent;
  const double c = std::fabs(m.number(c0).as_double());
  if (!std::isfinite(c) || c == 0 || std::frexp(c, &exponent) != 0.5) return false;
  return std::abs(exponent) < (m.root->dtype == DType::F64 ? 1000 : m.root->dtype == DType::F32 ? 120 : 10);
}

// clang-format would take products for pointers.
// clang-format off
constexpr Rule kFloats[] = {
    {"float-add-zero", x + -0.0, x, kFloat},
    {"float-add-zero-twice", (x + 0.0) + 0.0, x + 0.0, kFloat},
    {"float-add-zero-inside", (y + (x + 0.0)) + 0.0, (y + x) + 0.0, kFloat},
    {"float-sub-zero", x - 0.0, x, kFloat},
    {"float-mul-one", x * 1.0, x, kFloat},
    {"float-div-one", x / 1.0, x, kFloat},
    {"float-mul-minus-one", x * -1.0, -x, kFloat},
    {"float-div-minus-one", x / -1.0, -x, kFloat},
    {"float-div-power-of-two", x / c0, x * (1.0 / c0), kFloat, reciprocal_exact},
    {"float-negate-twice", -(-x), x, kFloat},
    {"float-add-negated", x + (-y), x - y, kFloat},
    {"float-sub-negated", x - (-y), x + y, kFloat},
    {"float-mul-both-negated", (-x) * (-y), x * y, kFloat},
    {"float-div-both-negated", (-x) / (-y), x / y, kFloat},
    {"float-mul-negated", (-x) * c0, x * (-c0), kFloat},
    {"float-negate-multiple", -(x * c0), x * (-c0), kFloat},
    {"float-abs-twice", abs(abs(x)), abs(x), kFloat},
    {"float-abs-negated", abs(-x), abs(x), kFloat},
    {"float-abs-square", abs(x * x), x * x, kFloat},
    {"float-max-again", max(max(x, c0), c0), max(x, c0), kFloat},
    {"float-min-again", min(min(x, c0), c0), min(x, c0), kFloat},
    {"float-floor-twice", op(Op::Floor, op(Op::Floor, x)), op(Op::Floor, x), kFloat},
    {"float-trunc-twice", op(Op::Trunc, op(Op::Trunc, x)), op(Op::Trunc, x), kFloat},
    {"float-round-twice", op(Op::Round, op(Op::Round, x)), op(Op::Round, x), kFloat},
    {"float-fma-one", op(Op::Fma, x, 1.0, y), x + y, kFloat},
    {"float-pow-one", op(Op::Pow, x, 1.0), x, kFloat},
    {"float-pow-zero", op(Op::Pow, x, 0.0), 1.0, kFloat},
};
// clang-format on

}  // namespace

const RuleSet& float_rules() {
  static const RuleSet& rules = *new RuleSet(std::span<const Rule>(kFloats));  // never destroyed (SEMANTICS V7)
  return rules;
}

}  // namespace sinter::ir
