// Sums, comparisons and conditions; floor division and modulo are in divmod.cpp.
#include "rewrite/index_math.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/build.h"

namespace sinter::ir {
namespace {

constexpr int kNestedGates = 3;     ///< deeper conditions are simplified without the outer ones' facts
constexpr size_t kConditions = 16;  ///< a longer conjunction is kept as it is: pruning it is quadratic

bool is_condition(UOp x) { return x->dtype == DType::Bool; }

bool is_true(UOp x) { return x->op == Op::Const && x->scalar().as_int() != 0; }
bool is_false(UOp x) { return x->op == Op::Const && x->scalar().as_int() == 0; }

}  // namespace

std::vector<UOp> conjuncts(UOp x) {
  if (!is_condition(x)) return {x};
  std::vector<UOp> parts = operands_of(x, Op::And);
  std::sort(parts.begin(), parts.end(), [](UOp a, UOp b) { return a->id < b->id; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

/// No index is as far as that: numbers that are would overflow a difference, or with their sign.
constexpr int64_t kFar = int64_t{1} << 62;

IndexMath::IndexMath(const IndexMath& outer, UOp condition, bool value)
    : graph_(outer.graph_), depth_(outer.depth_ + 1) {
  Facts facts = outer.narrow_.facts();
  facts.assume(condition, value);
  narrow_ = Intervals(std::move(facts));
}

UOp IndexMath::constant(int64_t value) { return ir::constant(*graph_, DType::Index, value); }
UOp IndexMath::truth(bool value) { return ir::constant(*graph_, DType::Bool, value ? 1 : 0); }

UOp IndexMath::add(UOp a, UOp b) { return to_uop(*graph_, normal(plus(linear_of(a), linear_of(b)))); }
UOp IndexMath::sub(UOp a, UOp b) { return to_uop(*graph_, normal(plus(linear_of(a), linear_of(b), -1))); }
UOp IndexMath::mul(UOp a, UOp b) { return to_uop(*graph_, normal(product(linear_of(a), linear_of(b)))); }

UOp IndexMath::div(UOp a, UOp b) {
  const Linear sum = linear_of(a);
  int64_t d;
  if (!constant_of(b, d)) return to_uop(*graph_, normal(divide_by_atoms(sum, b, false)));
  if (d == 0) return constant(0);
  if (d <= -kFar) return alu(Op::IDiv, {a, b});
  return to_uop(*graph_, normal(d > 0 ? divide(sum, d) : divide(times(sum, -1), -d)));
}

UOp IndexMath::mod(UOp a, UOp b) {
  const Linear sum = linear_of(a);
  int64_t d;
  if (!constant_of(b, d)) return to_uop(*graph_, normal(divide_by_atoms(sum, b, true)));
  if (d == 0) return constant(0);
  if (d <= -kFar) return alu(Op::Mod, {a, b});
  return to_uop(*graph_, normal(d > 0 ? modulo(sum, d) : times(modulo(times(sum, -1), -d), -1)));
}

/// Puts together what division took apart, and replaces atoms that the facts have fixed.
Linear IndexMath::normal(Linear sum) {
  for (int step = 0; step < 64; ++step) {
    for (size_t i = 0; i < sum.terms.size();) {
      const Term t = sum.terms[i];
      const Bounds b = narrow_.of(t.atom);
      if (b.single()) {
        sum = plus(sum, plus(linear_of(b.lo), {{{t.atom, 1}}, 0}, -1), t.factor);
      } else {
        ++i;
      }
    }
    if (!join_digits(sum)) break;
  }
  return sum;
}

bool IndexMath::join_digits(Linear& sum) {
  int64_t a, d;
  auto is = [&](const Term& t, Op op, int64_t& k) {
    return t.atom->op == op && constant_of(t.atom->src[1], k) && k > 0;
  };
  for (const Term& m : sum.terms) {
    if (!is(m, Op::Mod, a)) continue;
    const Linear y = linear_of(m.atom->src[0]);
    // x - x%a = a * (x/a)
    if (Linear core{y.terms, 0}; ratio(sum, core) == -m.factor && !y.terms.empty()) {
      const int64_t e = -m.factor;
      Linear joined = plus(plus(sum, {{m}, 0}, -1), y, -e);
      sum = plus(joined, divide(y, a), e * a);
      return true;
    }
    for (const Term& q : sum.terms) {
      // y%a + a*(y/a % b) = y % (a*b)
      if (q.factor == m.factor * a && is(q, Op::Mod, d) && d < std::numeric_limits<int32_t>::max() &&
          a < std::numeric_limits<int32_t>::max()) {
        if (modulo(divide(y, a), d) == Linear{{{q.atom, 1}}, 0}) {
          sum = plus(plus(plus(sum, {{m}, 0}, -1), {{q}, 0}, -1), modulo(y, a * d), m.factor);
          return true;
        }
      }
      if (q.atom->op != Op::IDiv || q.factor % m.factor != 0) continue;
      // (y/a) * a + y%a = y, also where y/a is written otherwise
      if (q.factor == m.factor * a) {
        const Linear whole = divide(y, a);
        if (whole.factor(q.atom) == 1) {
          sum = plus(plus(plus(sum, {{m}, 0}, -1), y, m.factor), whole, -q.factor);
          return true;
        }
      }
      // ... or the modulo is
      if (is(q, Op::IDiv, d) && q.factor % d == 0) {
        const int64_t e = q.factor / d;
        const Linear z = linear_of(q.atom->src[0]), rest = modulo(z, d);
        if (rest.factor(m.atom) != 0 && e * rest.factor(m.atom) == m.factor) {
          sum = plus(plus(plus(sum, {{q}, 0}, -1), z, e), rest, -e);
          return true;
        }
      }
    }
  }
  return false;
}

UOp IndexMath::compare(Op op, UOp a, UOp b) { return compare_sum(op, plus(linear_of(a), linear_of(b), -1)); }

/// difference < 0, <= 0, == 0 or != 0.
UOp IndexMath::compare_sum(Op op, Linear l) {
  const bool order = op == Op::Lt || op == Op::Le;
  l = normal(std::move(l));
  if (op == Op::Le) l.constant -= 1;  // l <= 0 is l - 1 < 0
  for (;;) {
    const Bounds b = narrow_.of(l);
    if (order && (b.hi < 0 || b.lo >= 0)) return truth(b.hi < 0);
    if (!order && (b.lo > 0 || b.hi < 0)) return truth(op == Op::Ne);
    if (b.single()) return truth((op == Op::Eq) == (b.lo == 0));
    const int64_t g = common_factor(l);
    if (!order && l.constant % g != 0) return truth(op == Op::Ne);
    if (g > 1) {
      for (Term& t : l.terms) t.factor /= g;
      l.constant = floor_div(l.constant, g);  // g*a + c < 0 is a + floor(c/g) < 0
      continue;
    }
    if (!order) break;
    bool changed = false;
    // f*a + s < 0 is a + floor(s/f) < 0: where floor(s/f) is one number, s decides nothing
    for (const Term& pivot : l.terms) {
      const int64_t f = std::abs(pivot.factor);
      if (f < 2) continue;
      Linear a, s{{}, l.constant};
      for (const Term& t : l.terms) {
        if (t.factor % f == 0)
          a.terms.push_back({t.atom, t.factor / f});
        else
          s.terms.push_back(t);
      }
      const Bounds sb = narrow_.of(s);
      a.constant = floor_div(sb.lo, f);
      if (a.constant != floor_div(sb.hi, f)) continue;
      l = std::move(a);
      changed = true;
      break;
    }
    if (changed) continue;
    // x/d + s < 0 is x + d*s < 0; s - x/d < 0 is d*(s + 1) - x <= 0
    int64_t d;
    for (const Term t : l.terms) {
      if (t.atom->op != Op::IDiv || !constant_of(t.atom->src[1], d) || d < 1 || std::abs(t.factor) != 1) continue;
      const Linear x = linear_of(t.atom->src[0]);
      Linear s = plus(l, {{t}, 0}, -1);
      if (t.factor < 0) s.constant += 1;
      l = plus(times(s, d), x, t.factor);
      if (t.factor < 0) l.constant -= 1;
      l = normal(std::move(l));
      changed = true;
      break;
    }
    if (!changed) break;
  }
  if (!order && l.terms[0].factor < 0) l = times(l, -1);
  Linear left, right{{}, -l.constant};
  for (const Term& t : l.terms) {
    if (t.factor > 0)
      left.terms.push_back(t);
    else
      right.terms.push_back({t.atom, -t.factor});
  }
  UOp result;
  if (left.terms.empty()) {
    // -c < x reads better as 1 - c <= x
    left.constant = -right.constant + 1;
    right.constant = 0;
    result = ir::le(to_uop(*graph_, left), to_uop(*graph_, right));
  } else {
    result = alu(order ? Op::Lt : op, {to_uop(*graph_, left), to_uop(*graph_, right)});
  }
  int known = narrow_.facts().known(result);
  return known < 0 ? result : truth(known);
}

UOp IndexMath::both(UOp a, UOp b) {
  if (!a || !b) return a ? a : b;
  return conjunction(a & b);
}

/// Drops what the other conditions imply; false if they contradict each other.
UOp IndexMath::conjunction(UOp x) {
  std::vector<UOp> parts = conjuncts(x);
  for (size_t i = 0; i < parts.size() && parts.size() > 1 && parts.size() <= kConditions && depth_ < kNestedGates;) {
    IndexMath inner(*this, truth(true));
    Facts facts = narrow_.facts();
    for (size_t j = 0; j < parts.size(); ++j)
      if (j != i) facts.assume(parts[j]);
    inner.narrow_ = Intervals(std::move(facts));
    UOp part = inner.simplify(parts[i]);
    if (is_false(part)) return part;
    if (is_true(part))
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  UOp result;
  for (UOp p : parts) {
    if (is_false(p)) return p;
    if (!is_true(p)) result = result ? result & p : p;
  }
  return result ? result : truth(true);
}

UOp IndexMath::choose(UOp x, const std::vector<UOp>& src) {
  const Bounds c = narrow_.of(src[0]);
  if (c.single()) return src[c.lo ? 1 : 2];
  UOp yes = src[1], no = src[2];
  if (depth_ < kNestedGates) {
    yes = IndexMath(*this, src[0], true).simplify(yes);
    no = IndexMath(*this, src[0], false).simplify(no);
  }
  if (yes == no) return yes;
  return yes == x->src[1] && no == x->src[2] && src[0] == x->src[0] ? x : where(src[0], yes, no);
}

UOp IndexMath::extreme(UOp x, const std::vector<UOp>& src) {
  const Bounds b = narrow_.of(normal(plus(linear_of(src[0]), linear_of(src[1]), -1)));
  if (b.hi <= 0) return src[x->op == Op::Max ? 1 : 0];
  if (b.lo >= 0) return src[x->op == Op::Max ? 0 : 1];
  return alu(x->op, src);
}

UOp IndexMath::to_index(UOp x) {
  if (x->dtype == DType::Index) return x;
  int64_t c;
  if (constant_of(x, c) && x->dtype != DType::U64) return -kFar < c && c < kFar ? constant(c) : UOp();
  if (x->op == Op::Cast && x->src[0]->dtype == DType::Index) {
    const Bounds type = bounds_of(x->dtype), b = narrow_.of(x->src[0]);
    if (x->dtype != DType::Bool && x->dtype != DType::U64 && b.within(type.lo, type.hi)) return x->src[0];
  }
  return {};
}

UOp IndexMath::rebuild(UOp x, const std::vector<UOp>& src) {
  if (x->dtype == DType::Index) {
    switch (x->op) {
      case Op::Add: return add(src[0], src[1]);
      case Op::Sub: return sub(src[0], src[1]);
      case Op::Mul: return mul(src[0], src[1]);
      case Op::Neg: return to_uop(*graph_, normal(times(linear_of(src[0]), -1)));
      case Op::IDiv: return div(src[0], src[1]);
      case Op::Mod: return mod(src[0], src[1]);
      case Op::Max:
      case Op::Min: return extreme(x, src);
      case Op::Where: return choose(x, src);
      case Op::Cast:
        if (UOp index = to_index(src[0])) return index;
        break;
      default: break;
    }
  } else if (is_condition(x)) {
    const bool on_index = src[0]->dtype == DType::Index;
    switch (x->op) {
      case Op::Lt:
      case Op::Le:
      case Op::Eq:
      case Op::Ne:
        if (on_index) return compare(x->op, src[0], src[1]);
        break;
      case Op::And: return conjunction(src == x->src ? x : src[0] & src[1]);
      case Op::Not:
        if (src[0]->op == Op::Not) return src[0]->src[0];
        if (is_true(src[0]) || is_false(src[0])) return truth(is_false(src[0]));
        if (!src[0]->src.empty() && src[0]->src[0]->dtype == DType::Index) {
          UOp a = src[0]->src[0], b = src[0]->src[1];
          if (src[0]->op == Op::Lt) return compare(Op::Le, b, a);
          if (src[0]->op == Op::Le) return compare(Op::Lt, b, a);
          if (src[0]->op == Op::Eq) return compare(Op::Ne, a, b);
          if (src[0]->op == Op::Ne) return compare(Op::Eq, a, b);
        }
        break;
      case Op::Or:
        if (is_true(src[0]) || is_false(src[1])) return src[0];
        if (is_true(src[1]) || is_false(src[0])) return src[1];
        break;
      default: break;
    }
  }
  UOp result = src == x->src ? x : with_sources(*graph_, x, src);
  const Bounds b = narrow_.of(result);
  if (!b.single()) return result;
  return is_condition(x) ? truth(b.lo) : x->dtype == DType::Index ? constant(b.lo) : result;
}

UOp IndexMath::simplify(UOp root) {
  auto inside = [](UOp u) {
    return is_alu(u->op) && u->op != Op::Check && (u->dtype == DType::Index || is_condition(u));
  };
  std::vector<UOp> stack{root}, src;
  while (!stack.empty()) {
    UOp u = stack.back();
    if (done_.contains(u.get())) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    if (inside(u))
      for (UOp s : u->src)
        if (!done_.contains(s.get())) {
          stack.push_back(s);
          ready = false;
        }
    if (!ready) continue;
    stack.pop_back();
    UOp result = u;
    if (inside(u)) {
      src.clear();
      for (UOp s : u->src) src.push_back(done_.at(s.get()));
      result = rebuild(u, src);
    } else if (u->dtype == DType::Index || is_condition(u)) {
      const Bounds b = narrow_.of(u);
      if (b.single()) result = u->dtype == DType::Index ? constant(b.lo) : truth(b.lo);
    }
    done_.emplace(u.get(), result);
  }
  return done_.at(root.get());
}

}  // namespace sinter::ir
