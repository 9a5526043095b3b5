// Blocks for long scans: what one thread does in order is a block, not a row.
#pragma once

#include <vector>

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

inline constexpr int64_t kLongestScan = 4096;  ///< elements of a row that is scanned in one chain at most
inline constexpr int64_t kScanBlock = 256;     ///< elements of a block in longer rows
inline constexpr int64_t kScanGroup = 64;      ///< results that one chain joins
inline constexpr int64_t kScanPrefixes = 128;  ///< results up to which each prefix is a reduction of its own

/// The axes in which a row of `length` elements is scanned, outermost first: {groups, .., blocks of a group, elements
/// of a block}. Their product is `length`, or more where sizes divide badly. Empty if it is one chain.
std::vector<int64_t> scan_axes(int64_t length);

/// Cuts SCANs along axes that are longer than kLongestScan. The elements of a block are scanned, the results of the
/// blocks of a group, and so on; the outermost prefixes are reductions. An element of the result is
///   groups before | (blocks of the group before | elements of the block up to this one)
/// with | the merge of the combine (ir/combine.h). No chain is longer than kScanPrefixes or 2 * kScanBlock. The result
/// of a block is that of its last element, so that sums of numbers >= 0 never decrease.
///
/// A SCAN of a block has ReductionTree::block: fusion may evaluate it where it is joined. The totals of blocks and the
/// joined values are stored. Axes of symbolic size are scanned in one chain.
void cut_scans(PlanGraph& plan);

}  // namespace sinter::schedule
