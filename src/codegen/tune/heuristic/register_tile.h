// Which ranges of a product get lanes and register copies: a search over a model of its cycles.
#pragma once

#include <algorithm>
#include <vector>

#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Copies of one or two ranges, and lanes along one; where the product has chains of its own, its lanes are theirs.
struct RegisterTile {
  ir::UOp lane_range;               ///< null: along what the product sums
  ir::UOp row_range, column_range;  ///< null: none. `column_range` may be `lane_range`
  int rows = 1, columns = 1;
  int transpose_unroll =
      1;  ///< copies of the last range that it sums: an operand that lies along that one is transposed in registers
  double cycles = 0;
  int64_t width(int vector) const {
    return int64_t{1} * vector * (column_range == lane_range ? columns : 1);
  }  ///< elements of a row; of a vector: `vector`
  bool has_own_columns() const {
    return column_range && !(column_range == lane_range);
  }  ///< `column_range` is a range of its own: beside lanes, all of its values are copies
};

/// What a range has already, for the sake of another product.
struct RangeWidth {
  ir::UOp range;
  int lanes = 1, unroll = 1;
  int64_t total() const { return int64_t{1} * lanes * unroll; }
};
/// What a range has by a list, or one of each.
inline RangeWidth width_of(const std::vector<RangeWidth>& widths, ir::UOp range) {
  const auto it = std::find_if(widths.begin(), widths.end(), [&](const RangeWidth& w) { return w.range == range; });
  return it == widths.end() ? RangeWidth{range} : *it;
}

/// The best tile for a REDUCE of some ranges: few loads for each multiplication, accumulators that hide their latency,
/// no more than fit the registers. `lanes`: elements of a vector; `fixed`: ranges that may have neither copies nor
/// lanes; `given`: what ranges have already and keep; no STORE then runs over two with lanes. No tile (cycles 0) where
/// none agrees with that.
RegisterTile pick_register_tile(KernelAnalysis& analysis, const StatementAnalysis& product, int lanes,
                                const runtime::Target& target, const std::vector<ir::UOp>& fixed,
                                const std::vector<RangeWidth>& given);

/// Ranges along which some operand of a REDUCE is the same: copies of them share its load.
std::vector<ir::UOp> reuse_ranges(KernelAnalysis& analysis, const StatementAnalysis& product);

}  // namespace sinter::codegen
