// Index expressions and predicates: thin rules over IndexMath, which has the algebra.

#include "ir/build.h"
#include "ir/contains.h"
#include "rewrite/rules/rules.h"

namespace sinter::ir {
namespace {

bool is_constant(UOp x, bool value) { return x->op == Op::Const && (x->scalar().as_int() != 0) == value; }

UOp index_sum(RewriteContext& context, UOp x) {
  if (x->dtype != DType::Index) return {};
  switch (x->op) {
    case Op::Add: return context.index.add(x->src[0], x->src[1]);
    case Op::Mul: return context.index.mul(x->src[0], x->src[1]);
    case Op::Sub: return context.index.sub(x->src[0], x->src[1]);
    default: return context.index.sub(context.index.constant(0), x->src[0]);
  }
}

UOp index_quotient(RewriteContext& context, UOp x) {
  return x->dtype == DType::Index ? context.index.div(x->src[0], x->src[1]) : UOp();
}
UOp index_remainder(RewriteContext& context, UOp x) {
  return x->dtype == DType::Index ? context.index.mod(x->src[0], x->src[1]) : UOp();
}

/// Comparisons of Index sums, and of integers that are casts of Index sums; all others by intervals.
UOp comparison(RewriteContext& context, UOp x) {
  UOp a = x->src[0], b = x->src[1];
  if (is_float(a->dtype) || a->dtype == DType::Bool) return {};
  UOp i = context.index.to_index(a), j = context.index.to_index(b);
  if (i && j) return context.index.compare(x->op, i, j);
  const Interval known = context.index.bounds(x);
  return known.single() ? constant(context.graph, DType::Bool, known.lo, x->device) : UOp();
}

UOp extreme(RewriteContext& context, UOp x) { return x->dtype == DType::Index ? context.index.simplify(x) : UOp(); }

UOp choice(RewriteContext& context, UOp x) { return x->dtype == DType::Index ? context.index.simplify(x) : UOp(); }

/// Integer arithmetic that cannot wrap is Index arithmetic.
UOp cast_to_index(RewriteContext& context, UOp x) {
  UOp v = x->src[0];
  if (x->dtype != DType::Index || !is_integer(v->dtype) || v->dtype == DType::U64) return {};
  if (UOp index = context.index.to_index(v)) return index;
  const bool arithmetic = v->op == Op::Add || v->op == Op::Sub || v->op == Op::Mul || v->op == Op::Neg ||
                          v->op == Op::IDiv || v->op == Op::Mod || v->op == Op::Max || v->op == Op::Min ||
                          v->op == Op::Where;
  const Interval type = bounds_of(v->dtype), b = context.index.bounds(v);
  if (!arithmetic || !(type.lo < b.lo && b.hi < type.hi)) return {};
  std::vector<UOp> src = v->src;
  for (size_t i = v->op == Op::Where ? 1 : 0; i < src.size(); ++i) src[i] = cast(src[i], DType::Index);
  return alu(v->op, src);
}

bool compares_index(UOp x) {
  return x->op == Op::And || ((x->op == Op::Lt || x->op == Op::Le || x->op == Op::Eq || x->op == Op::Ne) &&
                              x->src[0]->dtype == DType::Index);
}
UOp conditions(RewriteContext& context, UOp x) {
  if (x->dtype != DType::Bool || !compares_index(x->src[0]) || !compares_index(x->src[1])) return {};
  return context.index.conjoin(x->src[0], x->src[1]);
}

/// Simplifies the indices of an access under its predicate.
UOp simplify_under_predicate(RewriteContext& context, UOp x, size_t dims, UOp predicate) {
  IndexMath inside(context.index, predicate);
  std::vector<UOp> src = x->src;
  for (size_t i = 1; i <= dims; ++i) src[i] = inside.simplify(src[i]);
  return src == x->src ? UOp() : with_sources(context.graph, x, src);
}

UOp load_predicate(RewriteContext& context, UOp x) {
  const size_t dims = x->src[0]->rank();
  if (x->src.size() != dims + 3) return {};
  UOp predicate = x->src[dims + 1];
  if (is_constant(predicate, true)) return load(x->src[0], std::span(x->src).subspan(1, dims));
  if (is_constant(predicate, false)) return x->src[dims + 2];
  return simplify_under_predicate(context, x, dims, predicate);
}

UOp store_predicate(RewriteContext& context, UOp x) {
  const size_t dims = x->src[0]->rank();
  if (x->src.size() != dims + 3) return {};
  UOp predicate = x->src[dims + 2];
  if (is_constant(predicate, true))
    return store(x->src[0], std::span(x->src).subspan(1, dims), x->src[dims + 1],
                 static_cast<ScatterMode>(x->integer()));
  return is_constant(predicate, false) ? UOp() : simplify_under_predicate(context, x, dims, predicate);
}

/// Removes stores whose predicate is false.
UOp drop_stores(RewriteContext& context, UOp x) {
  std::vector<UOp> kept;
  for (UOp s : x->src)
    if (s->op != Op::Store || s->src.size() != s->src[0]->rank() + 3 || !is_constant(s->src.back(), false))
      kept.push_back(s);
  return kept.size() == x->src.size() || kept.empty() ? UOp() : with_sources(context.graph, x, kept);
}

/// where(c, LOAD with predicate p else v, w). If p implies c and v is w, it is the load. If c is p and w is a constant,
/// it is the load with w in place of v.
UOp select_of_load(RewriteContext& context, UOp x) {
  UOp l = x->src[1];
  if (l->op != Op::Load || l->src.size() != l->src[0]->rank() + 3) return {};
  const std::vector<UOp> predicate = conjuncts(l->src[l->src.size() - 2]), chosen = conjuncts(x->src[0]);
  for (UOp c : chosen)
    if (!contains(predicate, c)) return {};
  if (l->src.back() == x->src[2]) return l;
  if (chosen.size() != predicate.size() || x->src[2]->op != Op::Const) return {};
  std::vector<UOp> src = l->src;
  src.back() = x->src[2];
  return with_sources(context.graph, l, src);
}

}  // namespace

const RuleSet& index_rules() {
  static const RuleSet& rules = *new RuleSet{
      // never destroyed (SEMANTICS V7)
      {"index-sum", {Op::Add, Op::Sub, Op::Mul, Op::Neg}, index_sum},
      {"index-divide", {Op::IDiv}, index_quotient},
      {"index-modulo", {Op::Mod}, index_remainder},
      {"index-compare", {Op::Lt, Op::Le, Op::Eq, Op::Ne}, comparison},
      {"index-extreme", {Op::Max, Op::Min}, extreme},
      {"index-choice", {Op::Where}, choice},
      {"index-cast", {Op::Cast}, cast_to_index},
      {"predicate-conditions", {Op::And}, conditions},
      {"predicate-load", {Op::Load}, load_predicate},
      {"predicate-store", {Op::Store}, store_predicate},
      {"predicate-dead-store", {Op::Sink}, drop_stores},
      {"predicate-select", {Op::Where}, select_of_load},
  };
  return rules;
}

}  // namespace sinter::ir
