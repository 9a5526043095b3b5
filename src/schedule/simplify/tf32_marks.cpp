#include "schedule/simplify/tf32_marks.h"

#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {

void drop_tf32_marks(PlanGraph& plan) {
  rebuild(plan, [](ir::UOp n, const std::vector<ir::UOp>& src) { return n->op == ir::Op::Tf32 ? src[0] : ir::UOp(); });
}

}  // namespace sinter::schedule
