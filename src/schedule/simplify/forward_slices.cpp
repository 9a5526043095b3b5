// One comparison of boxes per select below a slice.
#include "schedule/simplify/simplify.h"

#include "ir/splat.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

using ir::Region;

/// The box in which a mask is true; it is false elsewhere. Null if the mask is none of a fixed box.
const Region* box_of(UOp mask) {
  if (mask->op != Op::Pad || mask->src.size() != 1) return nullptr;
  const UOp inside = ir::splat_const(mask->src[0]);
  return inside && inside->scalar().as_int() ? &mask->region() : nullptr;
}

/// The operand of a select that all elements of the slice are taken from. Null if there is none.
UOp selected(UOp select, const Region& slice) {
  const Region* box = box_of(select->src[0]);
  if (!box) return {};
  bool inside = true;
  for (size_t d = 0; d < slice.size(); ++d) {
    const ir::Extent &s = slice[d], &b = (*box)[d];
    if (s.begin == b.begin && s.end == b.end) continue;
    if (s.begin.symbolic() || s.end.symbolic() || b.begin.symbolic() || b.end.symbolic()) return {};
    if (s.end.value() <= b.begin.value() || b.end.value() <= s.begin.value()) return select->src[2];
    inside &= b.begin.value() <= s.begin.value() && s.end.value() <= b.end.value();
  }
  return inside ? select->src[1] : UOp();
}

}  // namespace

void forward_slices(PlanGraph& plan) {
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Shrink || src.size() != 1) return {};
    UOp from = src[0];
    while (from->op == Op::Where) {
      const UOp next = selected(from, n->region());
      if (!next) break;
      from = next;
    }
    return from == src[0] ? UOp() : ir::with_sources(*plan.graph, n, {from});
  });
}

}  // namespace sinter::schedule
