// The op as an attribute of numbers.
#include "ir/sort_runs.h"

namespace sinter::ir {

UOp sort_values(UOp positions, UOp x) {
  return x->graph->make(
      {Op::Sort, x->dtype, positions->shape, {x}, Ints{positions->ints()[0], positions->ints()[1], 1}});
}
UOp sort_runs(UOp to, UOp from, const SortRuns& step) {
  return to->graph->make({Op::SortRuns,
                          DType::Void,
                          {},
                          {to, from},
                          Ints{step.row, step.sorted, step.group, step.tasks, step.words, step.first, step.count,
                               static_cast<int64_t>(step.descending), static_cast<int64_t>(step.values)}});
}
SortRuns sort_runs_of(UOp n) {
  const Ints& a = n->ints();
  return {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7] != 0, a[8] != 0};
}

}  // namespace sinter::ir
