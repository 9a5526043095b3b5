// Counting over ranges and loads.
#include "codegen/tune/heuristic/operand_analysis.h"

#include <algorithm>

#include "ir/walk.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

bool overlaps(View& view, UOp operand) {
  int64_t elements = 1, stored = 0;
  for (UOp r : view.ranges())
    if (view.depends(operand, r)) elements *= view.size(r);
  for (UOp n : ir::topological(operand))
    if (n->op == Op::Load) stored += n->src[0]->shape.bound();
  return elements > 2 * stored;
}

int64_t reuse_of(View& view, const Work& product, UOp operand) {
  int64_t times = 1;
  for (UOp r : product.outs)
    if (!view.depends(operand, r)) times *= view.size(r);
  return times;
}

int64_t matrices_of(View& view, const Work& product, UOp operand, UOp lanes) {
  int64_t times = 1;
  for (UOp r : product.outs)
    if (is_outer(r) && !(r == lanes) && view.depends(operand, r)) times *= view.size(r);
  return times;
}

int number_of(const Kernel& kernel, UOp value) {
  const std::vector<UOp> below = ir::topological(value);
  if (std::any_of(below.begin(), below.end(), [](UOp n) { return combines(n) || n->op == Op::Check; })) return -1;
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  const auto it = std::find(nodes.begin(), nodes.end(), value);
  return it == nodes.end() ? -1 : static_cast<int>(it - nodes.begin());
}

bool worth_packing(View& view, const Work& product, UOp load, UOp lanes) {
  return view.stride(load, lanes) != 1 && reuse_of(view, product, load) >= kReuseStrided && !overlaps(view, load);
}

}  // namespace sinter::codegen
