// Counting over ranges and loads.
#include "codegen/tune/heuristic/operand_analysis.h"

#include <algorithm>

#include "codegen/tune/heuristic/register_tile.h"
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
  const std::vector<UOp> below = value->op == Op::Store ? std::vector<UOp>{} : ir::topological(value);
  if (std::ranges::any_of(below, [](UOp n) { return has_accumulators(n) || n->op == Op::Check; })) return -1;
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  const auto it = std::ranges::find(nodes, value);
  return it == nodes.end() ? -1 : static_cast<int>(it - nodes.begin());
}

std::vector<UOp> reuse_ranges(KernelAnalysis& analysis, const StatementAnalysis& product) {
  std::vector<UOp> out;
  for (UOp r : product.result_ranges)
    if (std::ranges::any_of(product.accesses, [&](UOp a) { return a->op == Op::Load && !analysis.depends(a, r); }))
      out.push_back(r);
  return out;
}

bool is_strided(KernelAnalysis& analysis, UOp operand, UOp lanes) {
  return std::ranges::any_of(ir::topological(operand), [&](UOp n) {
    return n->op == Op::Load && analysis.depends(n, lanes) && analysis.stride(n, lanes) != 1;
  });
}

int64_t min_reuse_to_pack(KernelAnalysis& analysis, UOp operand, UOp lanes) {
  return is_strided(analysis, operand, lanes) ? kMinReuseStrided : kMinReuse;
}

bool packs_computed(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp factor) {
  return tile.lane_range && is_outer(tile.lane_range) && tile.row_range && tile.transpose_unroll == 1 &&
         product.chains() == 1 && analysis.depends(factor, tile.lane_range) &&
         !analysis.depends(factor, tile.row_range) &&
         !(tile.has_own_columns() && analysis.depends(factor, tile.column_range)) &&
         !has_overlapping_windows(analysis, factor) &&
         std::ranges::none_of(ir::topological(factor), has_accumulators) &&
         results_per_element(analysis, product, factor) >= min_reuse_to_pack(analysis, factor, tile.lane_range);
}

bool worth_packing(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load, UOp lanes) {
  return analysis.stride(load, lanes) != 1 && results_per_element(analysis, product, load) >= kMinReuseStrided &&
         !has_overlapping_windows(analysis, load);
}

}  // namespace sinter::codegen
