#include "codegen/tune/gpu/instruction_count.h"

#include <set>

#include "codegen/nest/shared_accumulator.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/walk.h"

namespace sinter::codegen {

double instructions_of(Op op, DType dtype) {
  const bool index = dtype == DType::Index;
  switch (op) {
    case Op::Div:
    case Op::Sqrt: return 9;
    case Op::IDiv:
    case Op::Mod: return 5;
    case Op::Max:
    case Op::Min: return index ? 1 : 2;
    case Op::Threefry: return 90;
    default: return index ? kIndexInstructions : 1;
  }
}

double step_instructions(UOp node) {
  double count = 0;
  for (Op op : ir::combine_step_ops(node).all()) count += instructions_of(op, node->dtype);
  return count;
}

double shared_step_instructions(const Statement& s, FreeRanges& ranges) {
  const std::vector<DType> types = ir::accumulator_types(s.node);
  std::vector<bool> shared;
  for (size_t k = 0; k < types.size(); ++k) shared.push_back(static_cast<bool>(followed_source(s, k, ranges)));
  if (!ir::contains(shared, true)) return 0;
  const ir::CombineGraph step = ir::combine_step(s.node->reduction().combine, types);
  std::set<ir::Node*> own;  // ops that differ between the results
  double count = 0;
  for (UOp n : ir::topological(step.next)) {
    bool differs = n->op == Op::Arg && !shared[static_cast<size_t>(n->integer()) % types.size()];
    for (UOp u : n->src) differs |= own.contains(u.get());
    if (differs)
      own.insert(n.get());
    else if (ir::is_alu(n->op))
      count += instructions_of(n->op, n->dtype);
  }
  return count;
}

}  // namespace sinter::codegen
