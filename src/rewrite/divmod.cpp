// Floor division and modulo of sums, the core of the index simplifier. All divisors here are positive constants, except
// in divide_symbolic.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/build.h"
#include "rewrite/index_math.h"

namespace sinter::ir {
namespace {

constexpr int64_t kSmall = int64_t{1} << 30;  ///< products of two such numbers do not overflow

/// The remainder of least magnitude: a sum of such terms has the narrowest interval.
int64_t nearest(int64_t f, int64_t d) {
  int64_t r = floor_mod(f, d);
  return r > d - r ? r - d : r;
}

/// Splits sum = d * first + second. `remainder` picks the factors of `second`, which also gets the constant.
template <class Remainder>
std::pair<LinearExpr, LinearExpr> take_multiples(const LinearExpr& sum, int64_t d, Remainder remainder) {
  std::pair<LinearExpr, LinearExpr> parts;
  parts.second.constant = sum.constant;
  for (const LinearTerm& t : sum.terms) {
    const int64_t r = remainder(t.factor, d);
    if (r != 0) parts.second.terms.push_back({t.atom, r});
    if (t.factor != r) parts.first.terms.push_back({t.atom, (t.factor - r) / d});
  }
  return parts;
}

bool one_period(const Interval& b, int64_t d, int64_t& quotient) {
  quotient = floor_div(b.lo, d);
  return quotient == floor_div(b.hi, d);
}

/// A function of a sum whose only atom takes two values is the line through both results.
template <class Function>
std::optional<LinearExpr> interpolate_two_valued(const LinearExpr& sum, IntervalAnalysis& intervals,
                                                 Function function) {
  if (sum.terms.size() != 1) return {};
  const LinearTerm& t = sum.terms[0];
  const Interval b = intervals.of(t.atom);
  if (!b.within(-kSmall, kSmall) || b.hi - b.lo != 1 || std::abs(t.factor) > kSmall) return {};
  const int64_t low = function(sum.constant + t.factor * b.lo), step = function(sum.constant + t.factor * b.hi) - low;
  return plus(linear_of(low - step * b.lo), {{{t.atom, 1}}, 0}, step);
}

UOp divisor_of(UOp atom, Op op, int64_t& d) {
  return atom->op == op && constant_of(atom->src[1], d) && d > 0 ? atom->src[0] : UOp();
}

}  // namespace

/// sum / d = quotient + rest / divisor, and sum % d = scale * (rest % divisor) + small. `exact`: rest is zero.
struct IndexMath::DivModParts {
  LinearExpr quotient, small, rest;
  int64_t scale = 1, divisor = 1;
  bool exact = false;
};

IndexMath::DivModParts IndexMath::split_divmod(LinearExpr sum, int64_t d) {
  DivModParts r;
  for (r.rest = std::move(sum), r.divisor = d;;) {
    int64_t m;
    // Pull out multiples of the divisor. If the remaining terms stay within one period, they are the remainder.
    auto plain = take_multiples(r.rest, r.divisor, [](int64_t f, int64_t k) { return f % k; });
    auto close = take_multiples(r.rest, r.divisor, nearest);
    for (auto* parts : {&plain, &close}) {
      if (!one_period(with_facts_.of(parts->second), r.divisor, m)) continue;
      r.quotient = plus(r.quotient, parts->first);
      r.quotient.constant += m;
      parts->second.constant -= m * r.divisor;
      r.small = plus(r.small, parts->second, r.scale);
      r.exact = true;
      return r;
    }
    r.quotient = plus(r.quotient, plain.first);
    r.rest = std::move(plain.second);
    // rest = g * a + s with 0 <= s < g: g divides out.
    std::vector<int64_t> candidates;
    for (const LinearTerm& t : r.rest.terms)
      if (int64_t g = std::gcd(t.factor, r.divisor); g > 1) candidates.push_back(g);
    std::sort(candidates.rbegin(), candidates.rend());
    bool found = false;
    for (int64_t g : candidates) {
      LinearExpr a, s{{}, r.rest.constant};
      for (const LinearTerm& t : r.rest.terms) {
        if (t.factor % g == 0)
          a.terms.push_back({t.atom, t.factor / g});
        else
          s.terms.push_back(t);
      }
      if (!one_period(with_facts_.of(s), g, m)) continue;
      s.constant -= m * g;
      a.constant = m;
      r.small = plus(r.small, s, r.scale);
      r.scale *= g;
      r.divisor /= g;
      r.rest = std::move(a);
      found = true;
      break;
    }
    if (!found) break;
  }
  // Choose the constant so that the numerator is nonnegative where its bounds say so, and minimal.
  const int64_t constant = std::exchange(r.rest.constant, 0);
  const Interval b = without_facts_.of(r.rest);
  // Bounds as wide as int64 (a loaded index) must not shift it: sums of such shifts overflow.
  const bool bounded = b.lo > -(int64_t{1} << 48) && std::abs(constant) < std::numeric_limits<int64_t>::max() / 4;
  const int64_t shift = floor_div(bounded ? b.lo + constant : constant, r.divisor);
  r.rest.constant = constant - shift * r.divisor;
  r.quotient.constant += shift;
  return r;
}

LinearExpr IndexMath::divide(const LinearExpr& sum, int64_t d) {
  DivModParts r = split_divmod(sum, d);
  if (r.exact) return r.quotient;
  if (const auto line =
          interpolate_two_valued(r.rest, without_facts_, [&](int64_t x) { return floor_div(x, r.divisor); }))
    return plus(r.quotient, *line);
  if (LinearExpr joined = normalize(r.rest); joined != r.rest) return plus(r.quotient, divide(joined, r.divisor));
  int64_t k;
  for (const LinearTerm& t : r.rest.terms) {
    // (x/k + s) / d = (x + k*s) / (k*d)
    if (t.factor != 1) continue;
    if (UOp x = divisor_of(t.atom, Op::IDiv, k);
        x && k < std::numeric_limits<int32_t>::max() && r.divisor < std::numeric_limits<int32_t>::max()) {
      LinearExpr inner = plus(linear_of(x), plus(r.rest, {{t}, 0}, -1), k);
      return plus(r.quotient, divide(normalize(inner), k * r.divisor));
    }
  }
  if (r.rest.terms.size() == 1 && r.rest.constant == 0 && r.rest.terms[0].factor == 1) {
    // (x%k) / d = (x/d) % (k/d): the canonical form of a digit
    UOp x = divisor_of(r.rest.terms[0].atom, Op::Mod, k);
    if (x && k % r.divisor == 0)
      return plus(r.quotient, modulo(normalize(divide(linear_of(x), r.divisor)), k / r.divisor));
  }
  UOp quotient = idiv(to_uop(*graph_, r.rest), constant(r.divisor));
  return plus(r.quotient, {{{quotient, 1}}, 0});
}

LinearExpr IndexMath::modulo(const LinearExpr& sum, int64_t d) {
  DivModParts r = split_divmod(sum, d);
  if (r.exact) return r.small;
  if (const auto line =
          interpolate_two_valued(r.rest, without_facts_, [&](int64_t x) { return floor_mod(x, r.divisor); }))
    return plus(r.small, *line, r.scale);
  if (LinearExpr joined = normalize(r.rest); joined != r.rest) return plus(r.small, modulo(joined, r.divisor), r.scale);
  // x%k and x differ by a multiple of k. Terms whose values are multiples of the divisor vanish.
  LinearExpr simpler{{}, r.rest.constant};
  int64_t k;
  bool changed = false;
  for (const LinearTerm& t : r.rest.terms) {
    if (UOp x = divisor_of(t.atom, Op::Mod, k); x && static_cast<__int128_t>(k) * t.factor % r.divisor == 0) {
      simpler = plus(simpler, linear_of(x), t.factor);
      changed = true;
    } else if (static_cast<__int128_t>(with_facts_.of(t.atom).multiple) * t.factor % r.divisor == 0) {
      changed = true;
    } else {
      simpler = plus(simpler, {{t}, 0});
    }
  }
  if (changed) return plus(r.small, modulo(normalize(simpler), r.divisor), r.scale);
  UOp remainder = ir::mod(to_uop(*graph_, r.rest), constant(r.divisor));
  return plus(r.small, {{{remainder, r.scale}}, 0});
}

/// Division by a symbolic size: multiples of it divide out, and a range that it bounds is a remainder.
LinearExpr IndexMath::divide_symbolic(const LinearExpr& sum, UOp divisor, bool remainder) {
  const LinearExpr size = linear_of(divisor);
  auto opaque = [&](const LinearExpr& rest) {
    UOp x = to_uop(*graph_, rest);
    return LinearExpr{{{remainder ? ir::mod(x, divisor) : idiv(x, divisor), 1}}, 0};
  };
  if (size.terms.size() != 1 || size.constant != 0 || size.terms[0].factor < 1 || with_facts_.of(divisor).lo < 1)
    return opaque(sum);
  const int64_t k = size.terms[0].factor;
  UOp v = size.terms[0].atom;
  if (k > 1) {
    // x / (k*v) = (x/v) / k, and x % (k*v) = (x/v % k) * v + x%v
    UOp q = to_uop(*graph_, normalize(divide_symbolic(sum, v, false)));
    if (!remainder) return linear_of(div(q, constant(k)));
    return plus(linear_of(mul(mod(q, constant(k)), v)), divide_symbolic(sum, v, true));
  }
  LinearExpr quotient, rest{{}, sum.constant};
  for (const LinearTerm& t : sum.terms) {
    std::vector<UOp> others = operands_of(t.atom, Op::Mul);
    const auto divisor = std::ranges::find(others, v);
    if (divisor == others.end()) {
      rest.terms.push_back(t);
      continue;
    }
    others.erase(divisor);
    LinearExpr factor = linear_of(t.factor);
    for (UOp u : others) factor = product(factor, linear_of(u));
    quotient = plus(quotient, factor);
  }
  const Interval low = with_facts_.of(rest), high = with_facts_.of(plus(rest, size, -1));
  if (low.lo >= 0 && high.hi < 0) return remainder ? rest : quotient;
  // Multiples of v divide out. The rest keeps its division.
  if (remainder) return opaque(rest);
  return plus(quotient, opaque(rest));
}

}  // namespace sinter::ir
