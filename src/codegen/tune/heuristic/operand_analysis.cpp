// Counting over ranges and loads.
#include "codegen/tune/heuristic/operand_analysis.h"

#include <algorithm>

#include "ir/walk.h"

namespace sinter::codegen {

bool has_overlapping_windows(KernelAnalysis& analysis, UOp operand) {
  int64_t elements = 1, stored = 0;
  for (UOp r : analysis.ranges())
    if (analysis.depends(operand, r)) elements *= analysis.size(r);
  for (UOp n : ir::topological(operand))
    if (n->op == Op::Load) stored += n->src[0]->shape.bound();
  return elements > 2 * stored;
}

int64_t results_per_element(KernelAnalysis& analysis, const StatementAnalysis& product, UOp operand) {
  int64_t times = 1;
  for (UOp r : product.result_ranges)
    if (!analysis.depends(operand, r)) times *= analysis.size(r);
  return times;
}

int64_t batch_size_of(KernelAnalysis& analysis, const StatementAnalysis& product, UOp operand, UOp lanes) {
  int64_t times = 1;
  for (UOp r : product.result_ranges)
    if (is_outer(r) && !(r == lanes) && analysis.depends(operand, r)) times *= analysis.size(r);
  return times;
}

int node_index_of(const Kernel& kernel, UOp value) {
  const std::vector<UOp> below = ir::topological(value);
  if (std::ranges::any_of(below, [](UOp n) { return has_accumulators(n) || n->op == Op::Check; })) return -1;
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  const auto it = std::ranges::find(nodes, value);
  return it == nodes.end() ? -1 : static_cast<int>(it - nodes.begin());
}

bool worth_packing(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load, UOp lanes) {
  return analysis.stride(load, lanes) != 1 && results_per_element(analysis, product, load) >= kMinReuseStrided &&
         !has_overlapping_windows(analysis, load);
}

}  // namespace sinter::codegen
