// When a large operand of a product should not be packed. On machines with a near last cache its loads are cheap, and
// all rows together hardly amortize a copy.
#pragma once

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Cache lines in a row of a panel that is not packed, at least. Narrower panels visit the page of each value too
/// often.
inline constexpr int64_t kMinPanelLines = 2;

/// Whether an operand is better not packed: its panel (the columns of one tile) stays in the second cache while all
/// rows of a thread pass over it (covers_all_rows_of_thread()). `lanes`: elements of a vector. Requirements:
///
///   - one reduced range of at most kMaxBlockDepth values at a fixed distance;
///   - at least 32 rows per thread;
///   - panels of at least two lines, hence AVX-512: 16 registers of 32 bytes hold no such tile;
///   - the other operands, which are read once per panel, do not step by pages and fit half of the last cache.
///
/// On one core of a Zen 5 and on two cores far apart, 128 x 256 x 784 takes 0.94 and 0.83 of the time without packing.
/// Shapes that are refused would lose: 512 x 256 x 1024 (rows pages apart) 1.11 and 1.08, 1024 x 2000 x 512 (panels
/// exceed their sets) 1.37 and 1.45.
bool stays_unpacked(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp load,
                    int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
