// Whether a tile fits the widths that other products gave to ranges.
#include "codegen/tune/heuristic/range_width.h"

#include "codegen/tune/heuristic/register_tile.h"

namespace sinter::codegen {
namespace {

/// Whether a STORE runs over both ranges. They cannot both have lanes.
bool stored_together(const KernelAnalysis& analysis, UOp a, UOp b) {
  return std::ranges::any_of(analysis.statements(), [&](const StatementAnalysis& w) {
    return !w.is_reduce() && w.runs_over(a) && w.runs_over(b);
  });
}

}  // namespace

bool keeps_widths(const KernelAnalysis& analysis, const RegisterTile& t, const StatementAnalysis& product,
                  const std::vector<RangeWidth>& given) {
  return std::ranges::all_of(given, [&](const RangeWidth& w) {
    if (t.lane_range && w.lanes > 1 && !(t.lane_range == w.range) && stored_together(analysis, t.lane_range, w.range))
      return false;
    if (!contains(product.result_ranges, w.range)) return true;
    if (w.lanes > 1 && !(t.lane_range == w.range)) return false;
    const int copies = t.row_range == w.range ? t.rows : t.column_range == w.range ? t.columns : 1;
    return copies == w.unroll;
  });
}

}  // namespace sinter::codegen
