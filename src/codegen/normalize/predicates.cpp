// A predicated factor has two forms: a LOAD with a predicate, and a WHERE.
#include "codegen/normalize/predicates.h"

#include "codegen/kernel/access.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/scalar_eval.h"
#include "rewrite/index_math.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

bool is_zero(UOp n) { return n->op == Op::Const && ir::to_bits(n->dtype, n->scalar()) == 0; }

/// The predicate of a value that is +0 where the predicate is false; null if there is none.
UOp zero_predicate(UOp value) {
  if (value->op == Op::Where && is_zero(value->src[2])) return value->src[0];
  return value->op == Op::Load && predicate_of(value) && is_zero(other_of(value)) ? predicate_of(value) : UOp();
}

bool in_bounds(UOp load, ir::IntervalAnalysis intervals) {
  const Shape& shape = load->src[0]->shape;
  for (size_t d = 0; d < shape.rank(); ++d)
    if (shape[d].symbolic() || !intervals.of(load->src[1 + d]).within(0, shape[d].value() - 1)) return false;
  return true;
}

/// The load without a predicate if it is always in bounds, else with only the conjuncts that depend on no range outside
/// its index. Null if that drops nothing, or does not keep the load in bounds.
UOp relax_predicate(UOp load, FreeRanges& ranges) {
  RangeSet own;
  for (UOp i : indices_of(load)) own |= ranges.free(i);
  ir::Facts facts;
  UOp needed;
  if (!in_bounds(load, {})) {
    for (UOp c : ir::conjuncts(predicate_of(load))) {
      if (!((ranges.free(c) & own) == ranges.free(c))) continue;
      facts.assume(c);
      needed = needed ? needed & c : c;
    }
    if (!needed || needed == predicate_of(load) || !in_bounds(load, ir::IntervalAnalysis(facts))) return {};
  }
  return ir::load(load->src[0], indices_of(load), needed, needed ? other_of(load) : UOp());
}

}  // namespace

UOp common_predicate(UOp reduce) {
  if (reduce->op != Op::Reduce || reduce->reduction().combine != ir::Combine::Dot || reduce->reduction().tree.mma)
    return {};  // a step of a tensor core takes all of its elements
  UOp predicate;
  for (UOp value : values_of(reduce)) {
    const UOp of = zero_predicate(value);
    if (!of || (predicate && !(of == predicate))) return {};
    predicate = of;
  }
  return predicate;
}

std::vector<UOp> predicated_loads(UOp reduce) {
  const std::vector<UOp> values = values_of(reduce);
  std::vector<UOp> loads;
  for (UOp n : ir::topological(values, [](UOp n) { return !has_accumulators(n); }))
    if (n->op == Op::Load && predicate_of(n)) loads.push_back(n);
  return loads;
}

UOp without_predicate(UOp value) { return value->op == Op::Where && zero_predicate(value) ? value->src[1] : value; }

UOp select_by_predicate(ir::Graph& g, UOp sink) {
  FreeRanges ranges;
  return ir::rebuild(g, sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Reduce) return {};
    UOp made = src == n->src ? n : ir::with_sources(g, n, src);
    const UOp predicate = common_predicate(made);
    std::vector<UOp> now = made->src;
    if (predicate)
      for (size_t i = 0; i < values_of(made).size(); ++i) {
        UOp load = now[i];
        if (load->op != Op::Load) continue;
        if (UOp loose = relax_predicate(load, ranges)) now[i] = ir::where(predicate, loose, other_of(load));
      }
    return now == made->src ? made : ir::with_sources(g, made, now);
  });
}

}  // namespace sinter::codegen
