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
/// Bytes of an operand that stays in the second cache beside what passes.
inline int64_t most_beside_rows(const runtime::Target& target) { return target.l2 / 8 * 5; }

/// Whether a load of a product is one along the lanes that the rows share, and no window that overlaps.
bool passes_under_rows(View& view, const RegisterTile& tile, ir::UOp load);

/// Columns of a point that covers all rows, a multiple of the tile's, where several threads are to share a product by columns: each then copies
/// only its own part of the operand along the lanes. 0 where they are not to: columns that are not shared evenly, or known as variables alone; more
/// rows than go through a second cache, or many for what is summed; windows; ranges beside rows and columns, which are shared better.
/// `lanes`: elements of a vector.
int64_t own_columns(View& view, const Work& product, const RegisterTile& tile, int lanes, const runtime::Target& target);

/// Whether a product goes through a large operand where it lies, which all rows read: best one panel after the other, once for all rows of a thread.
bool read_by_all(View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target);

/// Whether values of a sum lie pages apart, or nearly so: a first cache then holds few of them at a time, since they share its sets.
bool pages_apart(View& view, const Work& product, ir::UOp load);

/// Whether a panel of an operand, the columns of one tile, stays in the second cache where it lies while a thread's rows pass over it, and so is as
/// good as a copy that costs nothing: where points are panels (read_by_all()), and the last cache is near. With one thread / two on a Zen 5 that takes
/// 0.94 / 0.83 of the time of copying for 128 x 256 x 784, 0.99 / 0.82 for 512 x 512 x 784, 0.99 / 0.9 for 500 x 700 x 300, 0.98 / 1 for 1000 x 1000 x
/// 1000; pages apart 1.05 to 1.4, and 768 x 768 x 768, whose panels take three quarters of the sets that they fall into, 1 to 1.1.
/// `lanes`: elements of a vector.
bool stays_as_it_lies(View& view, const Work& product, const RegisterTile& tile, ir::UOp load, int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
