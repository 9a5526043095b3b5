// Which large operand of a product is as good where it lies as in a copy. For machines whose last cache is near:
// fetching from it costs little there, and copying, which every row would have to make up for, much.
#pragma once

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kMinPanelLines =
    2;  ///< of a row of a panel that is read as it lies: with narrower ones every value's page is visited too often

/// Whether a panel of an operand, the columns of one tile, stays in the second cache where it lies while all rows of a
/// thread pass over it (covers_all_rows_of_thread()). So for one summed range of no more than kMaxBlockDepth values at
/// a fixed distance, for 32 rows of a thread or more, panels of two lines or more (in effect with AVX-512: 16 registers
/// of 32 bytes hold no such tile), and where other operands, which pass by for each panel, do not go from page to page
/// and fit half of the last cache. `lanes`: elements of a vector. Without copying, on one core of a Zen 5 / on two far
/// from each other:
///
///     128 x 256 x 784     0.94 / 0.83 of the time
///     512 x 512 x 784     0.99 / 0.82
///     500 x 700 x 300     0.99 / 0.90
///     64 x 1000 x 1000    0.88 / 0.89
///     1000 x 1000 x 1000  0.98 / 1.00
///
/// What it refuses: 512 x 256 x 1024, pages apart, 1.11 / 1.08; 1023 x 1023 x 1023 1.06 / 1.06; 768 x 768 x 768, whose
/// panels fill three quarters of the sets that they fall into, 1.0 to 1.1; 1024 x 2000 x 512, which do not fit
/// those, 1.37 / 1.45.
bool stays_unpacked(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, ir::UOp load,
                    int lanes, const runtime::Target& target);

}  // namespace sinter::codegen
