// Bounds are computed in 128 bits and saturate. Values are int64 without overflow, so a saturated bound remains valid.
#include "rewrite/interval.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sinter::ir {
namespace {

__extension__ using Int128 = __int128;
constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

int64_t saturate(Int128 v) { return v < kLow ? kLow : v > kHigh ? kHigh : static_cast<int64_t>(v); }
int64_t gcd(int64_t a, int64_t b) { return a == kLow || b == kLow ? 1 : std::gcd(a, b); }

Interval exactly(int64_t v) { return {v, v, v == kLow ? 1 : std::abs(v)}; }

Interval hull(Int128 a, Int128 b, Int128 c, Int128 d, int64_t multiple) {
  return {saturate(std::min({a, b, c, d})), saturate(std::max({a, b, c, d})), multiple};
}

Interval times(Interval a, Interval b) {
  Int128 multiple = static_cast<Int128>(a.multiple) * b.multiple;
  return hull(static_cast<Int128>(a.lo) * b.lo, static_cast<Int128>(a.lo) * b.hi, static_cast<Int128>(a.hi) * b.lo,
              static_cast<Int128>(a.hi) * b.hi, multiple > kHigh ? 1 : static_cast<int64_t>(multiple));
}

Interval divide(Interval a, Interval b) {
  if (b.lo >= 1)
    return hull(floor_div(a.lo, b.lo), floor_div(a.lo, b.hi), floor_div(a.hi, b.lo), floor_div(a.hi, b.hi), 1);
  // floor(x / y)| is at most |x|, also for negative y; x/0 is 0.
  Int128 most = std::max(a.lo < 0 ? -static_cast<Int128>(a.lo) : static_cast<Int128>(a.lo),
                         a.hi < 0 ? -static_cast<Int128>(a.hi) : static_cast<Int128>(a.hi));
  return {saturate(-most), saturate(most), 1};
}

Interval modulo(Interval a, Interval b) {
  if (!b.single()) {
    if (b.lo < 1)
      return {b.lo == kLow ? kLow : std::min<int64_t>(b.lo + 1, 0), std::max<int64_t>(b.hi == kLow ? 0 : b.hi - 1, 0),
              1};
    return {0, a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1, 1};
  }
  int64_t d = b.lo;
  if (d == 0) return exactly(0);
  if (d < 0) return {d == kLow ? kLow : d + 1, 0, gcd(a.multiple, d)};
  int64_t step = gcd(a.multiple, d);
  if (floor_div(a.lo, d) == floor_div(a.hi, d)) return {floor_mod(a.lo, d), floor_mod(a.hi, d), step};
  return {0, d - step, step};
}

Interval compared(Op op, Interval a, Interval b) {
  bool yes = false, no = false;
  const bool apart = a.hi < b.lo || b.hi < a.lo, same = a.single() && b.single() && a.lo == b.lo;
  switch (op) {
    case Op::Lt: yes = a.hi < b.lo, no = a.lo >= b.hi; break;
    case Op::Le: yes = a.hi <= b.lo, no = a.lo > b.hi; break;
    case Op::Eq: yes = same, no = apart; break;
    default: yes = apart, no = same; break;
  }
  return yes ? exactly(1) : no ? exactly(0) : Interval{0, 1, 1};
}

}  // namespace

Interval bounds_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return {0, 1, 1};
    case DType::U8: return {0, 255, 1};
    case DType::I8: return {-128, 127, 1};
    case DType::U16: return {0, 65535, 1};
    case DType::I16: return {-32768, 32767, 1};
    case DType::U32: return {0, 4294967295LL, 1};
    case DType::I32: return {-2147483648LL, 2147483647, 1};
    default: return {};
  }
}

int Facts::known(UOp condition) const {
  for (const auto& [c, value] : known_)
    if (c == condition) return value;
  return -1;
}

void Facts::add_constraint(const LinearExpr& sum, bool has_lo, int64_t hi) {
  // sum <= hi, and sum >= hi too if has_lo.
  if (sum.is_constant()) return;
  const int64_t g = common_factor(sum);
  const bool flip = sum.terms[0].factor < 0;
  Constraint r{{sum.terms, 0}, kLow, kHigh};
  for (LinearTerm& t : r.core.terms) t.factor /= flip ? -g : g;
  const int64_t limit = saturate(static_cast<Int128>(hi) - sum.constant);
  const int64_t above = floor_div(limit, g);  // g * core' <= limit
  if (!flip || has_lo) r.hi = flip ? saturate(-static_cast<Int128>(limit) / g) : above;
  if (flip || has_lo) r.lo = flip ? saturate(-static_cast<Int128>(above)) : above;
  for (Constraint& old : constraints_)
    if (old.core == r.core) {
      old.lo = std::max(old.lo, r.lo), old.hi = std::min(old.hi, r.hi);
      return;
    }
  constraints_.push_back(std::move(r));
}

void Facts::assume(UOp condition, bool value) {
  std::vector<std::pair<UOp, bool>> stack{{condition, value}};
  while (!stack.empty()) {
    auto [c, truth] = stack.back();
    stack.pop_back();
    if (c->op == Op::Const) continue;
    known_.emplace_back(c, truth);
    if (c->op == (truth ? Op::And : Op::Or)) {
      stack.emplace_back(c->src[0], truth);
      stack.emplace_back(c->src[1], truth);
    } else if (c->op == Op::Not) {
      stack.emplace_back(c->src[0], !truth);
    } else if (c->src.size() == 2 && c->src[0]->dtype == DType::Index) {
      const LinearExpr difference = plus(linear_of(c->src[0]), linear_of(c->src[1]), -1);
      const LinearExpr reverse = sinter::ir::times(difference, -1);
      const bool equal = (c->op == Op::Eq && truth) || (c->op == Op::Ne && !truth);
      if (equal && !difference.is_constant() && (difference.constant % common_factor(difference)) == 0)
        add_constraint(difference, true, 0);
      if (c->op == Op::Lt) truth ? add_constraint(difference, false, -1) : add_constraint(reverse, false, 0);
      if (c->op == Op::Le) truth ? add_constraint(difference, false, 0) : add_constraint(reverse, false, -1);
    }
  }
}

Interval IntervalAnalysis::bounds_of_terms(const LinearExpr& sum) {
  Int128 lo = sum.constant, hi = sum.constant;
  int64_t multiple = sum.constant == kLow ? 1 : std::abs(sum.constant);
  for (const LinearTerm& t : sum.terms) {
    const Interval b = times(of(t.atom), exactly(t.factor));
    lo += b.lo, hi += b.hi;
    multiple = gcd(multiple, b.multiple);
  }
  return {saturate(lo), saturate(hi), multiple};
}

/// sum = k * core + rest. Facts may bound the core more tightly than its terms do.
void IntervalAnalysis::tighten(const LinearExpr& sum, Interval& b) {
  auto use = [&](const LinearExpr& core, int64_t lo, int64_t hi) {
    const int64_t k = core.terms.size() > sum.terms.size() ? 0 : ratio(sum, core);
    if (k == 0) return;
    const Interval rest = bounds_of_terms(plus(sum, core, -k));
    const Interval part = times({lo, hi, 1}, exactly(k));
    b.lo = std::max(b.lo, saturate(static_cast<Int128>(part.lo) + rest.lo));
    b.hi = std::min(b.hi, saturate(static_cast<Int128>(part.hi) + rest.hi));
  };
  for (const Facts::Constraint& f : facts_.constraints())
    if (f.core.terms.size() > 1) use(f.core, f.lo, f.hi);
  for (const LinearTerm& t : sum.terms)
    if (t.atom->op == Op::Range && t.atom->src[0]->op != Op::Const)
      use(plus(linear_of(t.atom), linear_of(t.atom->src[0]), -1), kLow, -1);
}

/// lo <= c*x + rest <= hi bounds x, given the unconditional bounds of rest.
void IntervalAnalysis::tighten_atom(UOp x, const Facts::Constraint& fact, Interval& b) {
  const int64_t c = fact.core.factor(x);
  if (c == 0) return;
  Int128 lo = fact.lo, hi = fact.hi;
  if (fact.core.terms.size() > 1) {
    if (!unconditional_) unconditional_ = std::make_shared<IntervalAnalysis>();
    const Interval rest = unconditional_->of(plus(fact.core, {{{x, c}}, 0}, -1));
    lo -= rest.hi, hi -= rest.lo;
  }
  if (c < 0) lo = std::exchange(hi, -lo), lo = -lo;
  const int64_t d = std::abs(c);
  b.lo = std::max(b.lo, lo <= kLow ? kLow : -floor_div(-saturate(lo), d));
  b.hi = std::min(b.hi, hi > kHigh ? kHigh : floor_div(saturate(hi), d));
}

Interval IntervalAnalysis::of(const LinearExpr& sum) {
  Interval b = bounds_of_terms(sum);
  if (sum.terms.size() > 1) tighten(sum, b);
  return b;
}

Interval IntervalAnalysis::alu(UOp x) {
  auto at = [&](size_t i) { return is_float(x->src[i]->dtype) ? Interval{} : memo_.at(x->src[i].get()); };
  const Interval a = at(0), b = x->src.size() > 1 ? at(1) : Interval{};
  switch (x->op) {
    case Op::Add:
      if (x->dtype == DType::Bool) break;
      return {saturate(static_cast<Int128>(a.lo) + b.lo), saturate(static_cast<Int128>(a.hi) + b.hi),
              gcd(a.multiple, b.multiple)};
    case Op::Sub:
      return {saturate(static_cast<Int128>(a.lo) - b.hi), saturate(static_cast<Int128>(a.hi) - b.lo),
              gcd(a.multiple, b.multiple)};
    case Op::Neg: return {saturate(-static_cast<Int128>(a.hi)), saturate(-static_cast<Int128>(a.lo)), a.multiple};
    case Op::Mul: return times(a, b);
    case Op::IDiv: return divide(a, b);
    case Op::Mod: return modulo(a, b);
    case Op::Max: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), gcd(a.multiple, b.multiple)};
    case Op::Min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), gcd(a.multiple, b.multiple)};
    case Op::Where: {
      const Interval c = at(2);
      if (a.single()) return a.lo ? b : c;
      return {std::min(b.lo, c.lo), std::max(b.hi, c.hi), gcd(b.multiple, c.multiple)};
    }
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Ne:
      return is_float(x->src[0]->dtype) || x->src[0]->dtype == DType::U64 ? Interval{0, 1, 1} : compared(x->op, a, b);
    case Op::And:
      if (x->dtype == DType::Bool) return {a.lo & b.lo, a.hi & b.hi, 1};
      if (b.lo >= 0) return {0, a.lo >= 0 ? std::min(a.hi, b.hi) : b.hi, 1};
      break;
    case Op::Or:
      if (x->dtype == DType::Bool) return {a.lo | b.lo, a.hi | b.hi, 1};
      break;
    case Op::Not:
      if (x->dtype == DType::Bool) return {1 - a.hi, 1 - a.lo, 1};
      break;
    case Op::Cast: {
      const DType from = x->src[0]->dtype;
      if (is_float(from) || from == DType::U64) break;
      const Interval type = bounds_of(x->dtype);
      if (x->dtype == DType::Bool)
        return a.lo > 0 || a.hi < 0 ? exactly(1) : a.lo == 0 && a.hi == 0 ? exactly(0) : type;
      return a.within(type.lo, type.hi) ? a : type;
    }
    case Op::Check:
      if (x->dtype == DType::Bool) break;  // a condition that raises must not fold to true
      return a;
    default: break;
  }
  return bounds_of(x->dtype);
}

Interval IntervalAnalysis::compute(UOp x) {
  const Interval type = bounds_of(x->dtype);
  Interval b = type;
  int64_t value;
  if (constant_of(x, value)) return exactly(value);
  if (x->op == Op::Var) {
    b = {x->get<sinter::Var>().min(), x->get<sinter::Var>().max(), 1};
  } else if (x->op == Op::Range) {
    b = {0, std::max<int64_t>(memo_.at(x->src[0].get()).hi - 1, 0), 1};
  } else if (is_alu(x->op)) {
    b = alu(x);
    // uint64 is stored by its bits. A result that may wrap has the bounds of its type.
    if (x->dtype == DType::U64 || (x->dtype != DType::Index && !b.within(type.lo, type.hi))) b = type;
    if (x->dtype == DType::I64 && (b.lo == kLow || b.hi == kHigh)) b = type;
  }
  if (facts_.empty()) return b;
  if (x->dtype == DType::Bool)
    if (int k = facts_.known(x); k >= 0) return exactly(k);
  if (x->dtype != DType::Index) return b;
  if (x->op == Op::Add || x->op == Op::Sub || x->op == Op::Mul || x->op == Op::Neg) {
    const LinearExpr sum = linear_of(x);
    if (sum.factor(x) == 0) {  // not a product of two variables
      const Interval s = of(sum);
      b.lo = std::max(b.lo, s.lo), b.hi = std::min(b.hi, s.hi);
    }
  }
  for (const Facts::Constraint& f : facts_.constraints()) tighten_atom(x, f, b);
  return b;
}

Interval IntervalAnalysis::of(UOp x) {
  if (auto found = memo_.find(x.get()); found != memo_.end()) return found->second;
  std::vector<UOp> stack{x};
  while (!stack.empty()) {
    UOp u = stack.back();
    bool ready = true;
    if (is_alu(u->op) || u->op == Op::Range)
      for (UOp s : u->src)
        if (!is_float(s->dtype) && !memo_.contains(s.get())) {
          stack.push_back(s);
          ready = false;
        }
    if (!ready) continue;
    stack.pop_back();
    if (!memo_.contains(u.get())) {
      const Interval b = is_float(u->dtype) ? Interval{} : compute(u);
      memo_.emplace(u.get(), b);
    }
  }
  return memo_.at(x.get());
}

}  // namespace sinter::ir
