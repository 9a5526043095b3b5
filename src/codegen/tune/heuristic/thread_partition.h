// How threads split a product: by rows, where each thread reads every column, or by columns, where each reads every
// row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Tasks that a product should have: two for each of several threads, so that all end together.
inline int64_t fewest_tasks(const runtime::Target& target) { return target.threads > 1 ? 2 * target.threads : 1; }

/// Bytes of an operand that several cores read, from which each core should have its own copy: a line that two cores
/// hold leaves their caches when the last cache evicts it. On Sapphire Rapids with 2 threads, 512 x 512 x 512 takes
/// 0.55 of the time.
inline constexpr int64_t kMaxReadByAll = 320 << 10;
/// Rows per thread from which it has that copy. On Granite Rapids with 2 threads, copies for fewer rows lose: 128 x
/// 256 x 784 takes 1.05 to 1.2 of the time.
inline constexpr int64_t kMinRowsPerCopy = 128;
/// Bytes of an operand that stays in the second cache beside streamed data.
inline int64_t max_resident_bytes(const runtime::Target& target) { return target.l2 / 8 * 5; }
/// Bytes from which an operand that all rows of a product read is large.
inline int64_t large_operand_bytes(const runtime::Target& target) {
  return target.threads > 1 ? std::min(kMaxReadByAll, max_resident_bytes(target)) : max_resident_bytes(target);
}

/// Vectors of a task, a multiple of `step` and at most `most`, so that threads get about the same number of `vectors`.
/// The most of them, since each task reads all rows.
int64_t even_task(int64_t vectors, int64_t step, int64_t most, int threads);

/// Whether a load of a product lies along the lanes, is shared by all rows, and does not consist of overlapping
/// windows.
bool passes_under_rows(KernelAnalysis& analysis, const RegisterTile& tile, UOp load);

/// Columns of a task that covers all rows, if several threads split a product by columns: each thread then packs only
/// its own part of the operand along the lanes. A multiple of the tile's columns. `lanes`: elements of a vector.
///
/// 0 if the product is not split by columns: the columns do not split evenly, or are known only as variables; the rows
/// exceed half of the second cache, or all of it if the last cache is near; there are many rows for the depth of the
/// reduction; an operand consists of windows; or there are other outer ranges, which split better.
int64_t columns_per_task(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                         int lanes, const runtime::Target& target);

/// Whether a task covers all rows of a thread, for a product that reads a large operand without packing. Each panel of
/// it then passes under the rows once. This requires a single matrix with a constant number of rows and lanes along
/// the last range. With one thread, whose caches no other core reads, it also requires a near last cache.
bool covers_all_rows_of_thread(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                               const runtime::Target& target);

}  // namespace sinter::codegen
