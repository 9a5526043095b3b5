// Register pressure of unrolling a product's loop.
#include "codegen/tune/heuristic/register_pressure.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"

namespace sinter::codegen {
namespace {

/// Registers beside those of the tile and of a step's vectors: LLVM loads the first operands of the next step early.
constexpr int kSpareRegisters = 3;
/// Registers beside the elements of a step: one of the next step's vectors.
constexpr int kNextVector = 1;

/// Elements of a load that registers hold from one step of the unrolled `range` to another, with `width` copies along
/// `copies`: what a copy of a window reads, its neighbor reads some steps later.
int held_elements(KernelAnalysis& analysis, UOp load, UOp copies, int width, UOp range, int count) {
  const int64_t step = analysis.stride(load, range), copy = copies ? analysis.stride(load, copies) : 0;
  if (step == 0 || copy == 0) return 0;
  const bool known = step != KernelAnalysis::kScattered && copy != KernelAnalysis::kScattered;
  if (known && (std::abs(copy) >= count * std::abs(step) || std::abs(step) >= width * std::abs(copy))) return 0;
  const std::optional<int64_t> apart = analysis.steps_apart(load, copies, range);
  return static_cast<int>(apart ? (width - 1) * std::min(*apart, count - *apart) : width + count - 2);
}

}  // namespace

bool may_unroll(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp range,
                int count, bool staged, bool peeled, const runtime::Target& target) {
  if (const UOp predicate = common_predicate(product.node);
      predicate && analysis.depends(predicate, range) && !(peeled && count == analysis.size(range)))
    return false;
  const int left = target.vector_registers - tile.accumulators() - tile.columns;
  if (left < kSpareRegisters) return false;
  return std::ranges::none_of(product.accesses, [&](UOp a) {
    if (a->op != Op::Load) return false;
    if (const int64_t lane = tile.lane_range && !staged ? analysis.stride(a, tile.lane_range) : 0; lane < 0 || lane > 1)
      return true;
    const auto crowded = [&](UOp copies, int width) {
      const int held = held_elements(analysis, a, copies, width, range, count);
      return held > 0 && std::max(width + kNextVector, held) > left;
    };
    return crowded(tile.row_range, tile.rows) || (tile.has_own_columns() && crowded(tile.column_range, tile.columns));
  });
}

}  // namespace sinter::codegen
