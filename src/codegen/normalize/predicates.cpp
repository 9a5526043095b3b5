// A LOAD without its predicate is in bounds, or keeps a part of it.
#include "codegen/normalize/normalize.h"

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "rewrite/index_math.h"

namespace sinter::codegen {
namespace {

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
