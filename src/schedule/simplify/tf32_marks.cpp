#include "schedule/simplify/simplify.h"

#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {

void drop_tf32_marks(PlanGraph& plan) {
  rebuild(plan, [](UOp n, const std::vector<UOp>& src) { return n->op == Op::Tf32 ? src[0] : UOp(); });
}

}  // namespace sinter::schedule
