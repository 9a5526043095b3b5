// What a product's results pass on their way to memory: the stores after it, and what they read beside it.
#pragma once

#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// Whether a statement stores results of the product.
bool is_epilogue_store(const StatementAnalysis& statement, const StatementAnalysis& product);

/// An access of the epilogue, and its statement.
struct EpilogueAccess {
  const StatementAnalysis& statement;
  UOp access;
};
/// The accesses of the epilogue that are neither contiguous along `lanes` nor the same for all of them. Beside the
/// stores, those of other reductions without reuse that the stores read. None if `lanes` is null.
std::vector<EpilogueAccess> cross_lane_accesses(KernelAnalysis& analysis, const StatementAnalysis& product, UOp lanes);

}  // namespace sinter::codegen
