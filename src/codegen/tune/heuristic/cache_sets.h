// Lines that fall into the same sets of a cache, which holds few of each set however large it is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Lines of each set of the first cache, whose ways are a page each.
inline int64_t ways(const runtime::Target& target) { return target.l1 / runtime::kPage; }

/// Whether lines so many bytes apart fall into the same sets: whole pages apart, or nearly so.
inline bool pages_apart(int64_t bytes) {
  const int64_t beyond = bytes % runtime::kPage;
  return bytes > runtime::kCacheLine && std::min(beyond, runtime::kPage - beyond) < runtime::kCacheLine;
}

/// Whether values of a range that a product sums lie pages_apart() in an operand, more of them than stay all the same.
bool share_sets(KernelAnalysis& analysis, const StatementAnalysis& product, ir::UOp load);

}  // namespace sinter::codegen
