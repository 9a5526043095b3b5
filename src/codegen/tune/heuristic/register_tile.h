// Which ranges of a product get lanes and unrolled copies: a search over a model of its cycles.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/range_width.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Unrolled copies of one or two ranges, and lanes along one. The lanes of a product that has chains are its chains.
struct RegisterTile {
  UOp lane_range;               ///< null: lanes along the reduced range
  UOp row_range, column_range;  ///< null: none. `column_range` may be `lane_range`
  int rows = 1, columns = 1;
  /// Unrolled copies of the last reduced range. An operand that is contiguous along it is transposed in registers.
  int transpose_unroll = 1;
  double cycles = 0;
  int interleaved = 1;  ///< unrolled copies of a range whose results lie between the lanes of a strided store
  int accumulators() const { return rows * columns * interleaved; }  ///< vectors
  int64_t width(int vector) const {
    return int64_t{1} * vector * (column_range == lane_range ? columns : 1);
  }  ///< elements of a row of the tile; `vector`: elements of a vector
  bool has_own_columns() const {
    return column_range && !(column_range == lane_range);
  }  ///< whether the columns are a range of their own, unrolled completely
};

/// The best tile for a REDUCE: few loads per multiplication, enough accumulators to hide their latency, no more than
/// the registers hold. `lanes`: elements of a vector. `fixed`: ranges that may have neither unrolled copies nor lanes.
/// `given`: widths that ranges already have and keep. No STORE runs over two ranges with lanes. Returns cycles 0 if no
/// tile meets all of this.
RegisterTile pick_register_tile(KernelAnalysis& analysis, const StatementAnalysis& product, int lanes,
                                const runtime::Target& target, const std::vector<UOp>& fixed,
                                const std::vector<RangeWidth>& given);

}  // namespace sinter::codegen
