// Terms are merged by sorting on node ids, an order independent of addresses and hash seeds.
#include "rewrite/linear.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/build.h"

namespace sinter::ir {
namespace {

/// Index arithmetic does not overflow. In a discarded branch it may; it then wraps, as in a kernel.
int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void combine_like_terms(LinearExpr& sum) {
  auto& t = sum.terms;
  auto by_id = [](const LinearTerm& a, const LinearTerm& b) { return a.atom->id < b.atom->id; };
  if (!std::ranges::is_sorted(t, by_id)) std::ranges::sort(t, by_id);
  size_t out = 0;
  for (size_t i = 0; i < t.size();) {
    LinearTerm merged = t[i++];
    while (i < t.size() && t[i].atom == merged.atom) merged.factor = wrapping_add(merged.factor, t[i++].factor);
    if (merged.factor != 0) t[out++] = merged;
  }
  t.resize(out);
}

UOp scaled(Graph& g, UOp atom, int64_t factor) {
  if (factor == 1) return atom;
  return factor == -1 ? -atom : atom * constant(g, DType::Index, factor, atom->device);
}

UOp product_atom(UOp a, UOp b) {
  std::vector<UOp> factors = operands_of(a, Op::Mul), more = operands_of(b, Op::Mul);
  factors.insert(factors.end(), more.begin(), more.end());
  std::ranges::sort(factors, [](UOp x, UOp y) { return x->id < y->id; });
  UOp result = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) result = result * factors[i];
  return result;
}

}  // namespace

std::vector<UOp> operands_of(UOp root, Op op) {
  std::vector<UOp> operands, stack{root};
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (u->op == op)
      stack.insert(stack.end(), u->src.begin(), u->src.end());
    else
      operands.push_back(u);
  }
  return operands;
}

int64_t LinearExpr::factor(UOp atom) const {
  for (const LinearTerm& t : terms)
    if (t.atom == atom) return t.factor;
  return 0;
}

bool constant_of(UOp x, int64_t& value) {
  if (x->op != Op::Const || is_float(x->dtype)) return false;
  value = x->scalar().as_int();
  return true;
}

LinearExpr linear_of(UOp index) {
  LinearExpr sum;
  std::vector<std::pair<UOp, int64_t>> stack{{index, 1}};
  while (!stack.empty()) {
    auto [u, k] = stack.back();
    stack.pop_back();
    int64_t c;
    if (constant_of(u, c)) {
      sum.constant = wrapping_add(sum.constant, wrapping_mul(k, c));
    } else if (u->op == Op::Add || u->op == Op::Sub) {
      stack.emplace_back(u->src[0], k);
      stack.emplace_back(u->src[1], u->op == Op::Add ? k : -k);
    } else if (u->op == Op::Neg) {
      stack.emplace_back(u->src[0], -k);
    } else if (u->op == Op::Mul && constant_of(u->src[1], c)) {
      stack.emplace_back(u->src[0], wrapping_mul(k, c));
    } else {
      sum.terms.push_back({u, k});
    }
  }
  combine_like_terms(sum);
  return sum;
}

UOp to_uop(Graph& g, const LinearExpr& sum) {
  UOp result;
  for (const LinearTerm& t : sum.terms)
    if (t.factor > 0) result = result ? result + scaled(g, t.atom, t.factor) : scaled(g, t.atom, t.factor);
  for (const LinearTerm& t : sum.terms)
    if (t.factor < 0)
      result = result ? result - scaled(g, t.atom, wrapping_mul(t.factor, -1)) : scaled(g, t.atom, t.factor);
  if (!result) return constant(g, DType::Index, sum.constant);
  return sum.constant ? result + constant(g, DType::Index, sum.constant, result->device) : result;
}

LinearExpr plus(const LinearExpr& a, const LinearExpr& b, int64_t scale) {
  LinearExpr sum = a;
  sum.constant = wrapping_add(sum.constant, wrapping_mul(scale, b.constant));
  for (const LinearTerm& t : b.terms) sum.terms.push_back({t.atom, wrapping_mul(scale, t.factor)});
  combine_like_terms(sum);
  return sum;
}

LinearExpr times(const LinearExpr& a, int64_t scale) { return plus({}, a, scale); }

LinearExpr product(const LinearExpr& a, const LinearExpr& b) {
  if (b.is_constant()) return times(a, b.constant);
  if (a.is_constant()) return times(b, a.constant);
  LinearExpr sum = plus(times({a.terms, 0}, b.constant), {b.terms, 0}, a.constant);
  sum.constant = wrapping_mul(a.constant, b.constant);
  for (const LinearTerm& x : a.terms)
    for (const LinearTerm& y : b.terms)
      sum.terms.push_back({product_atom(x.atom, y.atom), wrapping_mul(x.factor, y.factor)});
  combine_like_terms(sum);
  return sum;
}

namespace {

/// Whether `atom` is x divided by n: directly, or as one division of x's own dividend.
bool is_quotient(UOp atom, UOp x, int64_t n) {
  int64_t by = 0, before = 0;
  if (atom->op != Op::IDiv || !constant_of(atom->src[1], by)) return false;
  if (atom->src[0] == x) return by == n;
  return x->op == Op::IDiv && atom->src[0] == x->src[0] && constant_of(x->src[1], before) && before > 0 &&
         by == wrapping_mul(before, n);
}

}  // namespace

LinearExpr merge_divmod(LinearExpr sum) {
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const LinearTerm rest = sum.terms[i];
    int64_t n = 0;
    if (rest.atom->op != Op::Mod || !constant_of(rest.atom->src[1], n) || n <= 0) continue;
    const UOp x = rest.atom->src[0];
    const auto whole = std::ranges::find_if(sum.terms, [&](const LinearTerm& t) {
      return t.factor == wrapping_mul(rest.factor, n) && is_quotient(t.atom, x, n);
    });
    if (whole == sum.terms.end()) continue;
    const LinearExpr parts = plus(linear_of(rest.atom), linear_of(whole->atom), n);
    return merge_divmod(plus(plus(sum, parts, -rest.factor), linear_of(x), rest.factor));
  }
  return sum;
}

int64_t ratio(const LinearExpr& whole, const LinearExpr& part) {
  int64_t k = 0;
  for (const LinearTerm& t : part.terms) {
    int64_t f = whole.factor(t.atom);
    if (f == 0 || f % t.factor != 0 || (k != 0 && f / t.factor != k)) return 0;
    k = f / t.factor;
  }
  return k;
}

int64_t common_factor(const LinearExpr& sum) {
  int64_t g = 0;
  for (const LinearTerm& t : sum.terms) g = std::gcd(g, t.factor);
  return g;
}

int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y < 0 ? 1 : 0); }

}  // namespace sinter::ir
