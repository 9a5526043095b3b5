// How the threads of a product share its operands: by rows, where all read every column, or by columns, where all read every row.
#pragma once

#include <cstdint>

#include "codegen/register_tile.h"
#include "codegen/view.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// Bytes of an operand that several cores read, from which each has rather its own copy: a line that two cores hold leaves their caches when the
/// last one loses it. Measured on Sapphire Rapids, 2 threads: 384 x 384 x 384 takes 0.75 of the time, 512 x 512 x 512 0.55; below, nothing.
inline constexpr int64_t kShared = 320 << 10;
/// Rows of each for which it has that copy, at least. With two threads on Granite Rapids 128 x 256 x 784 takes 1.05 to 1.2 of the time with copies,
/// 256 x 784 x 128 1.03 (0.82 on Sapphire Rapids), 500 x 700 x 300 0.9.
inline constexpr int64_t kSharedRows = 128;

/// Columns of a point that covers all rows, a multiple of the tile's, where the threads are to share a product by columns: each then copies or reads
/// only its own part of the operand along the lanes. 0 where they do not: one thread alone, columns that would not be shared evenly, other operands
/// too large to pass through each one's second cache, or ranges beside rows and columns, which are shared better.
/// `lanes`: elements of a vector.
int64_t own_columns(View& view, const Work& product, const RegisterTile& tile, int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
