// Which ranges get the lanes of vectors, of those that no product's tile took.
#pragma once

#include <algorithm>
#include <vector>

#include "codegen/emit/register_transpose.h"
#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

inline constexpr double kShuffleCycles =
    2;  ///< cycles of a vector for each element that lies between its lanes' elements, and shuffled out

/// Cycles of a vector that is loaded from elements `stride` apart: picked out of wide loads where they are near.
inline double strided_load_cycles(int64_t stride, int lanes) {
  const double gathered = kGather * lanes;
  return stride > 1 && stride <= kWidestStride ? std::min(kShuffleCycles * static_cast<double>(stride), gathered)
                                               : gathered;
}

/// Ranges that get `lanes` lanes beside `taken`, which have them already: those whose lanes save their statements most.
/// No statement runs over two of them, none of them is in `fixed`.
std::vector<ir::UOp> choose_lanes(KernelAnalysis& analysis, int lanes, const std::vector<ir::UOp>& fixed,
                                  const std::vector<ir::UOp>& taken);

}  // namespace sinter::codegen
