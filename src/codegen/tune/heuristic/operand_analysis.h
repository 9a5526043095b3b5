// What an operand of a product is to it: how many results share an element, whether it is windows, where an Opt finds
// it.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kMaxBlockDepth = 2048;  ///< summed values that one block of a product may have
inline constexpr int64_t kMinReuseStrided =
    4;  ///< results that share an element, from which copying pays what does not lie along the lanes
inline constexpr double kFarL2Sizes = 4;  ///< second caches that operands fill, from which they are asked for ahead

/// Whether a load reads as much as that.
inline bool far_exceeds_l2(KernelAnalysis& analysis, ir::UOp load, const runtime::Target& target) {
  return analysis.bytes_read(load) >= kFarL2Sizes * static_cast<double>(target.l2);
}

/// How many results of a product share an element of `operand`.
int64_t results_per_element(KernelAnalysis& analysis, const StatementAnalysis& product, ir::UOp operand);

/// How many matrices beside each other an operand of a product is, with vectors along `lanes`: values of the other
/// outer ranges with which it changes.
int64_t batch_size_of(KernelAnalysis& analysis, const StatementAnalysis& product, ir::UOp operand, ir::UOp lanes);

/// Whether a tile of an operand would hold each element of memory several times, as one of windows does, or of what is
/// repeated.
bool has_overlapping_windows(KernelAnalysis& analysis, ir::UOp operand);

/// Whether a load of a product is rather copied into a tile first, when its vectors lie along `lanes`: its elements are
/// not side by side there, enough results share each of them, and they are no windows that overlap.
bool worth_packing(KernelAnalysis& analysis, const StatementAnalysis& product, ir::UOp load, ir::UOp lanes);

/// Where a TileCopy or a Prefetch finds a value: its place among the kernel's nodes; -1 for one that it may not hold,
/// or that the kernel lacks.
int node_index_of(const Kernel& kernel, ir::UOp value);

}  // namespace sinter::codegen
