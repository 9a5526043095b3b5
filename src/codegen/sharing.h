// How the threads of a product share its operands: by rows, where all read every column, or by columns, where all read every row.
#pragma once

#include <cstdint>

#include "codegen/register_tile.h"
#include "codegen/view.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// Bytes of an operand that several cores read, from which each has rather its own copy: a line that two cores hold leaves their caches when the
/// last one loses it. Measured on Sapphire Rapids, 2 threads: 384 x 384 x 384 takes 0.75 of the time, 512 x 512 x 512 0.55; below, nothing.
inline constexpr int64_t kReadByAll = 320 << 10;
/// Rows of each for which it has that copy, at least. With two threads on Granite Rapids 128 x 256 x 784 takes 1.05 to 1.2 of the time with copies,
/// 256 x 784 x 128 1.03 (0.82 on Sapphire Rapids), 500 x 700 x 300 0.9.
inline constexpr int64_t kRowsOfCopy = 128;

/// Whether a load of a product is one along the lanes that the rows share, and no window that overlaps.
bool passes_under_rows(View& view, const RegisterTile& tile, ir::UOp load);

/// Columns of a point that covers all rows, a multiple of the tile's, where several threads are to share a product by columns: each then copies
/// only its own part of the operand along the lanes. 0 where they are not to: columns that are not shared evenly, or known as variables alone; more
/// rows than go through a second cache, or many for what is summed; windows; ranges beside rows and columns, which are shared better.
/// `lanes`: elements of a vector.
int64_t own_columns(View& view, const Work& product, const RegisterTile& tile, int lanes, const runtime::Target& target);

/// Whether all threads read a large operand of a product where it lies, when they share it by rows: best once for all rows of a thread.
bool read_by_all(View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target);

}  // namespace sinter::codegen
