// How the threads of a product share its operands: by rows, where all read every column, or by columns, where all read
// every row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Bytes of an operand that several cores read, from which each has rather its own copy: a line that two cores hold
/// leaves their caches when the last one loses it. Measured on Sapphire Rapids, 2 threads: 384 x 384 x 384 takes 0.75
/// of the time, 512 x 512 x 512 0.55; below, nothing.
inline constexpr int64_t kMaxReadByAll = 320 << 10;
/// Rows of each for which it has that copy, at least. With two threads on Granite Rapids 128 x 256 x 784 takes 1.05
/// to 1.2 of the time with copies, 256 x 784 x 128 1.03 (0.82 on Sapphire Rapids), 500 x 700 x 300 0.9.
inline constexpr int64_t kMinRowsPerCopy = 128;
/// Bytes of an operand that stays in the second cache beside what passes.
inline int64_t max_resident_bytes(const runtime::Target& target) { return target.l2 / 8 * 5; }
/// Bytes from which an operand that all rows of a product read is large.
inline int64_t large_operand_bytes(const runtime::Target& target) {
  return target.threads > 1 ? std::min(kMaxReadByAll, max_resident_bytes(target)) : max_resident_bytes(target);
}

/// Whether a load of a product is one along the lanes that the rows share, and no window that overlaps.
bool passes_under_rows(KernelAnalysis& analysis, const RegisterTile& tile, ir::UOp load);

/// Columns of a point that covers all rows, a multiple of the tile's, where several threads are to share a product by
/// columns: each then copies only its own part of the operand along the lanes. 0 where they are not to: columns that
/// are not shared evenly, or known as variables alone; more rows than half of a second cache holds, or all of it where
/// the last one is near; many for what is summed; windows; ranges beside rows and columns, which are shared better.
/// `lanes`: elements of a vector.
int64_t columns_per_task(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                         int lanes, const runtime::Target& target);

/// Whether a point covers all rows of a thread, for a product that reads a large operand where it lies: one panel of it
/// after the other then passes under them, once. So for a single matrix, of known rows, that lies along the last range;
/// for one thread, whose caches nobody else reads, where the last one is near.
bool covers_all_rows_of_thread(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                               const runtime::Target& target);

}  // namespace sinter::codegen
