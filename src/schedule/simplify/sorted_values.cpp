// Counts the readers of all SORTs, then replaces the GATHERs.
#include "schedule/simplify/simplify.h"

#include <unordered_set>

#include "ir/sort_runs.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

UOp below_copy(UOp n) { return n->op == Op::Contiguous ? n->src[0] : n; }

/// Whether n picks the elements at the positions of a SORT, from what that sorts.
bool picks_sorted(UOp n) {
  if (n->op != Op::Gather || n->src[1]->op != Op::Sort || ir::gives_values(n->src[1])) return false;
  return n->integer() == static_cast<int64_t>(n->rank()) - 1 && below_copy(n->src[0]) == below_copy(n->src[1]->src[0]);
}

}  // namespace

void sort_values_alone(PlanGraph& plan, const runtime::Target& target) {
  if (target.cuda()) return;
  std::unordered_set<UOp> kept;
  for (const Output& o : plan.outputs) kept.insert(o.value);
  for (UOp n : ir::topological(values_of(plan)))
    for (size_t i = 0; i < n->src.size(); ++i)
      if (n->src[i]->op == Op::Sort && !(i == 1 && picks_sorted(n))) kept.insert(n->src[i]);
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    return picks_sorted(n) && !kept.contains(n->src[1]) ? ir::sort_values(n->src[1], src[1]->src[0]) : UOp();
  });
}

}  // namespace sinter::schedule
