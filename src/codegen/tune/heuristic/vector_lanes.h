// Which ranges get vector lanes, among those that no product's tile took.
#pragma once

#include <algorithm>
#include <vector>

#include "codegen/emit/register_transpose.h"
#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

/// Cycles of a strided vector load per element of its stride: lanes are shuffled out of wide loads.
inline constexpr double kShuffleCycles = 2;

/// Cycles of a vector load of elements `stride` apart. Close elements are shuffled out of wide loads, others gathered.
inline double strided_load_cycles(int64_t stride, int lanes) {
  const double gathered = kGather * lanes;
  return stride > 1 && stride <= kWidestStride ? std::min(kShuffleCycles * static_cast<double>(stride), gathered)
                                               : gathered;
}

/// Ranges that get `lanes` lanes in addition to `taken`: those whose lanes save their statements most. No statement
/// runs over two of them. None of them is in `fixed`.
std::vector<UOp> choose_lanes(KernelAnalysis& analysis, int lanes, const std::vector<UOp>& fixed,
                              const std::vector<UOp>& taken);

}  // namespace sinter::codegen
