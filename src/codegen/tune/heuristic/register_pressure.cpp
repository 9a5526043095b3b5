// What steps that follow one another ask of registers.
#include "codegen/tune/heuristic/register_pressure.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/normalize/predicates.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kSpare =
    3;  ///< registers beside a tile and the vectors of a step: LLVM loads what the next step begins with

/// Whether copies of a load may read in one step what others have read in an earlier one: also where that is not known.
bool may_meet(View& view, UOp load, UOp copies, int width, UOp range, int count) {
  const int64_t step = view.stride(load, range), copy = copies ? view.stride(load, copies) : 0;
  if (step == 0 || copy == 0) return false;
  return step < 0 || copy < 0 || (copy < count * step && step < width * copy);
}

}  // namespace

bool may_follow(View& view, const Work& product, const RegisterTile& tile, UOp range, int count, bool staged,
                bool peeled, const runtime::Target& target) {
  if (const UOp gate = common_gate(product.node);
      gate && view.depends(gate, range) && !(peeled && count == view.size(range)))
    return false;
  const int left = target.vector_registers - tile.rows * tile.columns - tile.columns;
  if (left < kSpare) return false;
  return std::none_of(product.accesses.begin(), product.accesses.end(), [&](UOp a) {
    if (a->op != Op::Load) return false;
    if (const int64_t lane = tile.lanes && !staged ? view.stride(a, tile.lanes) : 0; lane < 0 || lane > 1) return true;
    const auto crowded = [&](UOp copies, int width) {
      return width + count - 1 > left && may_meet(view, a, copies, width, range, count);
    };
    return crowded(tile.first, tile.rows) || (tile.has_other() && crowded(tile.second, tile.columns));
  });
}

}  // namespace sinter::codegen
