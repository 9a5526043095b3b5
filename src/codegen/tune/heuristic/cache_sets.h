// Lines that map to the same sets of a cache. A set holds few lines, however large the cache is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Associativity of the first cache. Each way is one page.
inline int64_t l1_associativity(const runtime::Target& target) { return target.l1 / runtime::kPage; }

/// Whether lines this far apart map to the same sets: the distance is a multiple of a page, or nearly so.
inline bool is_page_stride(int64_t bytes) {
  const int64_t beyond = bytes % runtime::kPage;
  return bytes > runtime::kCacheLine && std::min(beyond, runtime::kPage - beyond) < runtime::kCacheLine;
}

/// Whether the values of a reduced range are is_page_stride() in an operand, and there are more of them than a set
/// holds.
bool conflicts_in_sets(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load);
/// Whether the steps of a reduced range read more distinct lines of an operand than the sets of the first cache to
/// which they map can hold.
bool evicts_own_lines(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load,
                      const runtime::Target& target);

}  // namespace sinter::codegen
