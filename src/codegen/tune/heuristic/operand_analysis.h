// What an operand is to its product: its reuse, whether it consists of windows, its position for an Opt.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

struct RegisterTile;

/// Results per element from which packing pays for an operand that could be read without it.
inline constexpr int64_t kMinReuse = 16;
inline constexpr int64_t kMaxBlockDepth = 2048;  ///< values that one block of a product sums, at most
/// Results per element from which packing an operand pays that is not contiguous along the lanes.
inline constexpr int64_t kMinReuseStrided = 4;
inline constexpr double kFarL2Sizes = 4;  ///< sizes of the second cache from which operands are prefetched

/// Whether a load reads at least kFarL2Sizes second caches.
inline bool far_exceeds_l2(KernelAnalysis& analysis, UOp load, const runtime::Target& target) {
  return analysis.bytes_read(load) >= kFarL2Sizes * static_cast<double>(target.l2);
}

/// How many results of a product use each element of `operand`.
int64_t results_per_element(KernelAnalysis& analysis, const StatementAnalysis& product, UOp operand);

/// Ranges on which some operand of a REDUCE does not depend. Unrolled copies along them share its load.
std::vector<UOp> reuse_ranges(KernelAnalysis& analysis, const StatementAnalysis& product);

/// The batch size of an operand with vectors along `lanes`: the number of values of the other outer ranges on which it
/// depends.
int64_t batch_size_of(KernelAnalysis& analysis, const StatementAnalysis& product, UOp operand, UOp lanes);

/// Whether a tile of an operand would hold elements of memory several times: the operand consists of overlapping
/// windows or is broadcast.
bool has_overlapping_windows(KernelAnalysis& analysis, UOp operand);

/// Whether a load of a product should be packed if its vectors lie along `lanes`: it is not contiguous there, enough
/// results use each element, and it does not consist of overlapping windows.
bool worth_packing(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load, UOp lanes);

/// Whether a load of an operand depends on `lanes` and is not contiguous along them.
bool is_strided(KernelAnalysis& analysis, UOp operand, UOp lanes);

/// Results per element from which an operand is packed if its vectors lie along `lanes`.
int64_t min_reuse_to_pack(KernelAnalysis& analysis, UOp operand, UOp lanes);

/// Whether a factor that is computed is packed, so that each of its elements is computed once for a task: its vectors
/// pass under the rows of a tile that is not transposed, and enough results use an element.
bool packs_computed(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp factor);

/// The index by which a TileCopy or a Prefetch names a value. -1 if no Opt may hold the value, or the kernel lacks it.
int node_index_of(const Kernel& kernel, UOp value);

}  // namespace sinter::codegen
