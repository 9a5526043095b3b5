// What the factors of a product cost beside its multiply-adds, where they are computed.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// An operation of a factor. A step evaluates it for each unrolled copy of the factor: as a vector if the factor has
/// lanes, as a scalar that is broadcast if not.
struct FactorOperation {
  UOp node, factor;
  double cycles = 1;  ///< of a vector or of a scalar
};

/// Operations that the steps of a product evaluate. Those that are the same in each step stand outside of its loop;
/// those on indices and bools do not count.
std::vector<FactorOperation> factor_operations(KernelAnalysis& analysis, const StatementAnalysis& product);

}  // namespace sinter::codegen
