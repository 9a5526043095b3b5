// Sums, comparisons and conditions. Floor division and modulo are in divmod.cpp.
#include "rewrite/index_math.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/build.h"

namespace sinter::ir {
namespace {

constexpr int kMaxNesting = 3;         ///< deeper conditions are simplified without the facts of the outer ones
constexpr size_t kMaxConditions = 16;  ///< longer conjunctions are left alone: pruning is quadratic

bool is_condition(UOp x) { return x->dtype == DType::Bool; }

bool is_true(UOp x) { return x->op == Op::Const && x->scalar().as_int() != 0; }
bool is_false(UOp x) { return x->op == Op::Const && x->scalar().as_int() == 0; }

}  // namespace

std::vector<UOp> conjuncts(UOp x) {
  if (!is_condition(x)) return {x};
  std::vector<UOp> parts = operands_of(x, Op::And);
  std::ranges::sort(parts, [](UOp a, UOp b) { return a->id < b->id; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

UOp contradiction(UOp x) {
  UOp none = ir::constant(*x->graph, DType::Bool, 0), result;
  for (UOp part : conjuncts(x)) {
    if (part->op != Op::Check) continue;
    UOp check = with_sources(*x->graph, part, {none, part->src[1]});
    result = result ? result & check : check;
  }
  return result ? result : none;
}

/// Beyond the range of any index: a difference or a negation of such numbers would overflow.
constexpr int64_t kIndexLimit = int64_t{1} << 62;

IndexMath::IndexMath(const IndexMath& outer, UOp condition, bool value)
    : graph_(outer.graph_), depth_(outer.depth_ + 1) {
  Facts facts = outer.with_facts_.facts();
  facts.assume(condition, value);
  with_facts_ = IntervalAnalysis(std::move(facts));
}

UOp IndexMath::constant(int64_t value) { return ir::constant(*graph_, DType::Index, value); }
UOp IndexMath::bool_constant(bool value) { return ir::constant(*graph_, DType::Bool, value ? 1 : 0); }

UOp IndexMath::add(UOp a, UOp b) { return to_uop(*graph_, normalize(plus(linear_of(a), linear_of(b)))); }
UOp IndexMath::sub(UOp a, UOp b) { return to_uop(*graph_, normalize(plus(linear_of(a), linear_of(b), -1))); }
UOp IndexMath::mul(UOp a, UOp b) { return to_uop(*graph_, normalize(product(linear_of(a), linear_of(b)))); }

UOp IndexMath::div(UOp a, UOp b) {
  const LinearExpr sum = linear_of(a);
  int64_t d;
  if (!constant_of(b, d)) return to_uop(*graph_, normalize(divide_symbolic(sum, b, false)));
  if (d == 0) return constant(0);
  if (d <= -kIndexLimit) return alu(Op::IDiv, {a, b});
  return to_uop(*graph_, normalize(d > 0 ? divide(sum, d) : divide(times(sum, -1), -d)));
}

UOp IndexMath::mod(UOp a, UOp b) {
  const LinearExpr sum = linear_of(a);
  int64_t d;
  if (!constant_of(b, d)) return to_uop(*graph_, normalize(divide_symbolic(sum, b, true)));
  if (d == 0) return constant(0);
  if (d <= -kIndexLimit) return alu(Op::Mod, {a, b});
  return to_uop(*graph_, normalize(d > 0 ? modulo(sum, d) : times(modulo(times(sum, -1), -d), -1)));
}

/// Recombines quotients and remainders, and replaces atoms whose value the facts fix.
LinearExpr IndexMath::normalize(LinearExpr sum) {
  for (int step = 0; step < 64; ++step) {
    for (size_t i = 0; i < sum.terms.size();) {
      const LinearTerm t = sum.terms[i];
      const Interval b = with_facts_.of(t.atom);
      if (b.single()) {
        sum = plus(sum, plus(linear_of(b.lo), {{{t.atom, 1}}, 0}, -1), t.factor);
      } else {
        ++i;
      }
    }
    if (!recombine_divmod(sum)) break;
  }
  return sum;
}

bool IndexMath::recombine_divmod(LinearExpr& sum) {
  int64_t a, d;
  auto is = [&](const LinearTerm& t, Op op, int64_t& k) {
    return t.atom->op == op && constant_of(t.atom->src[1], k) && k > 0;
  };
  for (const LinearTerm& m : sum.terms) {
    if (!is(m, Op::Mod, a)) continue;
    const LinearExpr y = linear_of(m.atom->src[0]);
    // x - x%a = a * (x/a)
    if (LinearExpr core{y.terms, 0}; ratio(sum, core) == -m.factor && !y.terms.empty()) {
      const int64_t e = -m.factor;
      LinearExpr joined = plus(plus(sum, {{m}, 0}, -1), y, -e);
      sum = plus(joined, divide(y, a), e * a);
      return true;
    }
    for (const LinearTerm& q : sum.terms) {
      // y%a + a*(y/a % b) = y % (a*b)
      if (q.factor == m.factor * a && is(q, Op::Mod, d) && d < std::numeric_limits<int32_t>::max() &&
          a < std::numeric_limits<int32_t>::max()) {
        if (modulo(divide(y, a), d) == LinearExpr{{{q.atom, 1}}, 0}) {
          sum = plus(plus(plus(sum, {{m}, 0}, -1), {{q}, 0}, -1), modulo(y, a * d), m.factor);
          return true;
        }
      }
      if (q.atom->op != Op::IDiv || q.factor % m.factor != 0) continue;
      // (y/a) * a + y%a = y, also if y/a has another form
      if (q.factor == m.factor * a) {
        const LinearExpr whole = divide(y, a);
        if (whole.factor(q.atom) == 1) {
          sum = plus(plus(plus(sum, {{m}, 0}, -1), y, m.factor), whole, -q.factor);
          return true;
        }
      }
      // ... or if the modulo has another form
      if (is(q, Op::IDiv, d) && q.factor % d == 0) {
        const int64_t e = q.factor / d;
        const LinearExpr z = linear_of(q.atom->src[0]), rest = modulo(z, d);
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

/// Compares with zero: difference < 0, <= 0, == 0 or != 0.
UOp IndexMath::compare_sum(Op op, LinearExpr l) {
  const bool order = op == Op::Lt || op == Op::Le;
  l = normalize(std::move(l));
  if (op == Op::Le) l.constant -= 1;  // l <= 0 is l - 1 < 0
  for (;;) {
    const Interval b = with_facts_.of(l);
    if (order && (b.hi < 0 || b.lo >= 0)) return bool_constant(b.hi < 0);
    if (!order && (b.lo > 0 || b.hi < 0)) return bool_constant(op == Op::Ne);
    if (b.single()) return bool_constant((op == Op::Eq) == (b.lo == 0));
    const int64_t g = common_factor(l);
    if (!order && l.constant % g != 0) return bool_constant(op == Op::Ne);
    if (g > 1) {
      for (LinearTerm& t : l.terms) t.factor /= g;
      l.constant = floor_div(l.constant, g);  // g*a + c < 0 is a + floor(c/g) < 0
      continue;
    }
    if (!order) break;
    bool changed = false;
    // f*a + s < 0 is a + floor(s/f) < 0. If floor(s/f) is a single number, s does not matter.
    for (const LinearTerm& pivot : l.terms) {
      const int64_t f = std::abs(pivot.factor);
      if (f < 2) continue;
      LinearExpr a, s{{}, l.constant};
      for (const LinearTerm& t : l.terms) {
        if (t.factor % f == 0)
          a.terms.push_back({t.atom, t.factor / f});
        else
          s.terms.push_back(t);
      }
      const Interval sb = with_facts_.of(s);
      a.constant = floor_div(sb.lo, f);
      if (a.constant != floor_div(sb.hi, f)) continue;
      l = std::move(a);
      changed = true;
      break;
    }
    if (changed) continue;
    // x/d + s < 0 is x + d*s < 0; s - x/d < 0 is d*(s + 1) - x <= 0
    int64_t d;
    for (const LinearTerm t : l.terms) {
      if (t.atom->op != Op::IDiv || !constant_of(t.atom->src[1], d) || d < 1 || std::abs(t.factor) != 1) continue;
      const LinearExpr x = linear_of(t.atom->src[0]);
      LinearExpr s = plus(l, {{t}, 0}, -1);
      if (t.factor < 0) s.constant += 1;
      l = plus(times(s, d), x, t.factor);
      if (t.factor < 0) l.constant -= 1;
      l = normalize(std::move(l));
      changed = true;
      break;
    }
    if (!changed) break;
  }
  if (!order && l.terms[0].factor < 0) l = times(l, -1);
  LinearExpr left, right{{}, -l.constant};
  for (const LinearTerm& t : l.terms) {
    if (t.factor > 0)
      left.terms.push_back(t);
    else
      right.terms.push_back({t.atom, -t.factor});
  }
  UOp result;
  if (left.terms.empty()) {
    // -c < x is written as 1 - c <= x
    left.constant = -right.constant + 1;
    right.constant = 0;
    result = ir::le(to_uop(*graph_, left), to_uop(*graph_, right));
  } else {
    result = alu(order ? Op::Lt : op, {to_uop(*graph_, left), to_uop(*graph_, right)});
  }
  int known = with_facts_.facts().known(result);
  return known < 0 ? result : bool_constant(known);
}

UOp IndexMath::conjoin(UOp a, UOp b) {
  if (!a || !b) return a ? a : b;
  return conjunction(a & b);
}

/// Drops conditions that the others imply. False if they contradict each other.
UOp IndexMath::conjunction(UOp x) {
  std::vector<UOp> parts = conjuncts(x);
  for (size_t i = 0; i < parts.size() && parts.size() > 1 && parts.size() <= kMaxConditions && depth_ < kMaxNesting;) {
    IndexMath inner(*this, bool_constant(true));
    Facts facts = with_facts_.facts();
    for (size_t j = 0; j < parts.size(); ++j)
      if (j != i) facts.assume(parts[j]);
    inner.with_facts_ = IntervalAnalysis(std::move(facts));
    UOp part = inner.simplify(parts[i]);
    if (is_false(part)) return contradiction(x);
    if (is_true(part))
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  UOp result;
  for (UOp p : parts) {
    if (is_false(p)) return contradiction(x);
    if (!is_true(p)) result = result ? result & p : p;
  }
  return result ? result : bool_constant(true);
}

UOp IndexMath::simplify_where(UOp x, const std::vector<UOp>& src) {
  const Interval c = with_facts_.of(src[0]);
  if (c.single()) return src[c.lo ? 1 : 2];
  UOp yes = src[1], no = src[2];
  if (depth_ < kMaxNesting) {
    yes = IndexMath(*this, src[0], true).simplify(yes);
    no = IndexMath(*this, src[0], false).simplify(no);
  }
  if (yes == no) return yes;
  return yes == x->src[1] && no == x->src[2] && src[0] == x->src[0] ? x : where(src[0], yes, no);
}

UOp IndexMath::simplify_minmax(UOp x, const std::vector<UOp>& src) {
  const Interval b = with_facts_.of(normalize(plus(linear_of(src[0]), linear_of(src[1]), -1)));
  if (b.hi <= 0) return src[x->op == Op::Max ? 1 : 0];
  if (b.lo >= 0) return src[x->op == Op::Max ? 0 : 1];
  return alu(x->op, src);
}

UOp IndexMath::to_index(UOp x) {
  if (x->dtype == DType::Index) return x;
  int64_t c;
  if (constant_of(x, c) && x->dtype != DType::U64) return -kIndexLimit < c && c < kIndexLimit ? constant(c) : UOp();
  if (x->op == Op::Cast && x->src[0]->dtype == DType::Index) {
    const Interval type = bounds_of(x->dtype), b = with_facts_.of(x->src[0]);
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
      case Op::Neg: return to_uop(*graph_, normalize(times(linear_of(src[0]), -1)));
      case Op::IDiv: return div(src[0], src[1]);
      case Op::Mod: return mod(src[0], src[1]);
      case Op::Max:
      case Op::Min: return simplify_minmax(x, src);
      case Op::Where: return simplify_where(x, src);
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
        if (is_true(src[0]) || is_false(src[0])) return bool_constant(is_false(src[0]));
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
  const Interval b = with_facts_.of(result);
  if (!b.single()) return result;
  return is_condition(x) ? bool_constant(b.lo) : x->dtype == DType::Index ? constant(b.lo) : result;
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
      const Interval b = with_facts_.of(u);
      if (b.single()) result = u->dtype == DType::Index ? constant(b.lo) : bool_constant(b.lo);
    }
    done_.emplace(u.get(), result);
  }
  return done_.at(root.get());
}

}  // namespace sinter::ir
