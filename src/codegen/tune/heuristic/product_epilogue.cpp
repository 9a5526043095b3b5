// Accesses of a product's epilogue across the lanes.
#include "codegen/tune/heuristic/product_epilogue.h"

#include <algorithm>

#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

/// Whether a statement is a reduction that the epilogue's stores read, and that has no tile of its own.
bool feeds_epilogue(KernelAnalysis& analysis, const StatementAnalysis& statement, const StatementAnalysis& product) {
  if (!statement.is_reduce() || statement.node == product.node || !reuse_ranges(analysis, statement).empty())
    return false;
  return std::ranges::any_of(analysis.statements(), [&](const StatementAnalysis& store) {
    return is_epilogue_store(store, product) && contains(store.sums, statement.node);
  });
}

}  // namespace

bool is_epilogue_store(const StatementAnalysis& statement, const StatementAnalysis& product) {
  return !statement.is_reduce() && contains(statement.sums, product.node);
}

std::vector<EpilogueAccess> cross_lane_accesses(KernelAnalysis& analysis, const StatementAnalysis& product, UOp lanes) {
  std::vector<EpilogueAccess> out;
  if (!lanes) return out;
  for (const StatementAnalysis& w : analysis.statements())
    if (contains(w.result_ranges, lanes) && (is_epilogue_store(w, product) || feeds_epilogue(analysis, w, product)))
      for (UOp a : w.accesses)
        if (const int64_t stride = analysis.stride(a, lanes); stride != 0 && stride != 1) out.push_back({w, a});
  return out;
}

}  // namespace sinter::codegen
