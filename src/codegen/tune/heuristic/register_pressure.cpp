// Register pressure of unrolling the innermost loop.
#include "codegen/tune/heuristic/register_pressure.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/normalize/predicates.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

/// Registers beside those of the tile and of a step's vectors: LLVM loads the first operands of the next step early.
constexpr int kSpareRegisters = 3;

/// Whether unrolled copies of a load may read in one step what others read in an earlier one. True if that is unknown.
bool may_share_elements(KernelAnalysis& analysis, UOp load, UOp unrolled, int width, UOp range, int count) {
  const int64_t step = analysis.stride(load, range), copy = unrolled ? analysis.stride(load, unrolled) : 0;
  if (step == 0 || copy == 0) return false;
  return step < 0 || copy < 0 || (copy < count * step && step < width * copy);
}

}  // namespace

bool may_unroll(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp range,
                int count, bool staged, bool peeled, const runtime::Target& target) {
  if (const UOp predicate = common_predicate(product.node);
      predicate && analysis.depends(predicate, range) && !(peeled && count == analysis.size(range)))
    return false;
  const int left = target.vector_registers - tile.rows * tile.columns - tile.columns;
  if (left < kSpareRegisters) return false;
  return std::none_of(product.accesses.begin(), product.accesses.end(), [&](UOp a) {
    if (a->op != Op::Load) return false;
    if (const int64_t lane = tile.lane_range && !staged ? analysis.stride(a, tile.lane_range) : 0; lane < 0 || lane > 1)
      return true;
    const auto crowded = [&](UOp unrolled, int width) {
      return width + count - 1 > left && may_share_elements(analysis, a, unrolled, width, range, count);
    };
    return crowded(tile.row_range, tile.rows) || (tile.has_own_columns() && crowded(tile.column_range, tile.columns));
  });
}

}  // namespace sinter::codegen
