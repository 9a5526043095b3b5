// Removes After nodes from the plan graph.
#include "schedule/simplify/simplify.h"

#include <unordered_set>

#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

bool partial(UOp n) { return n->op == Op::After && std::holds_alternative<ir::Region>(n->attr); }

UOp strip(UOp n) {
  while (ir::is_movement(n->op) || (n->op == Op::After && !partial(n))) n = n->src[0];
  return n;
}

/// where(inside, value, old). The mask and the value are padded alike.
UOp select_in_box(ir::Graph& g, UOp after, const std::vector<UOp>& src) {
  UOp old = src[0], value = src[1];
  auto padded = [&](UOp x) {
    std::vector<UOp> sources{x};
    sources.insert(sources.end(), src.begin() + 2, src.end());
    if (x->shape == old->shape) return x;
    return g.make({Op::Pad, x->dtype, old->shape, sources, after->region()});
  };
  return ir::where(padded(ir::true_like(value)), padded(value), old);
}

}  // namespace

std::vector<bool> box_candidates(const PlanGraph& plan) {
  std::vector<bool> boxed;
  for (const Output& o : plan.outputs) {
    UOp n = o.value;
    bool fits = o.home >= 0 && partial(n);
    UOp old = fits ? strip(n->src[0]) : UOp();
    // Only versions, no view, may lie between the output and the old value.
    for (UOp m = fits ? n->src[0] : UOp(); m && m != old; m = m->src[0]) fits &= m->op == Op::After;
    boxed.push_back(fits && old->op == Op::Param && old->integer() == o.home);
  }
  return boxed;
}

void lower_versions(PlanGraph& plan, const std::vector<bool>& boxed) {
  std::unordered_set<ir::Node*> keep;
  for (size_t i = 0; i < boxed.size(); ++i)
    if (boxed[i]) keep.insert(plan.outputs[i].value.get());
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::After) return {};
    if (!keep.contains(n.get())) return partial(n) ? select_in_box(*plan.graph, n, src) : src[0];
    if (strip(src[1]) != strip(src[0])) return {};
    std::vector<UOp> copied = src;
    copied[1] = ir::contiguous(src[1]);
    return ir::with_sources(*plan.graph, n, copied);
  });
}

}  // namespace sinter::schedule
