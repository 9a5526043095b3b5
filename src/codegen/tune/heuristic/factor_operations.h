// What the factors of a product cost beside its multiply-adds, where they are computed.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// An operation of a factor. A step evaluates it once for each unrolled copy of the factor: as a vector if the factor
/// has lanes, as a scalar that is broadcast if not.
struct FactorOperation {
  UOp node;
  double cycles = 1;  ///< per step of the innermost loop; less if the node is the same in several steps
};

/// A factor that is computed, and its operations on numbers that change along a reduced range. What it shares with a
/// factor before it is listed there.
struct ComputedFactor {
  UOp value;
  std::vector<FactorOperation> operations;
};

struct FactorOperations {
  std::vector<ComputedFactor> computed;
  double beside = 1;  ///< operations per element of the sum: the multiply-add, and bools
};

FactorOperations operations_of_factors(KernelAnalysis& analysis, const StatementAnalysis& product);

}  // namespace sinter::codegen
