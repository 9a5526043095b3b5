// An accumulator follows a source alone if its step reads nothing but the two.
#include "codegen/nest/shared_accumulator.h"

#include <algorithm>

#include "ir/combine.h"
#include "ir/walk.h"

namespace sinter::codegen {

UOp followed_source(const Statement& s, size_t accumulator, FreeRanges& ranges) {
  const ir::ReduceAttr& attr = s.node->reduction();
  const auto count = static_cast<size_t>(ir::accumulator_count(attr.combine));
  if (count == 1 || attr.tree.lanes > 1) return {};
  const UOp source = s.node->src[accumulator];
  const auto follows = [&](const LoopLevel& l) { return ranges.depends(source, l.range); };
  const auto shares = [&](const LoopLevel& l) { return l.straight && ranges.depends(s.node, l.range) && !follows(l); };
  if (std::ranges::none_of(s.loops, shares) || std::ranges::none_of(s.loops, follows)) return {};
  const ir::CombineGraph step = ir::combine_step(attr.combine, ir::accumulator_types(s.node));
  for (UOp n : ir::topological(step.next[accumulator]))
    if (n->op == Op::Arg && static_cast<size_t>(n->integer()) % count != accumulator) return {};
  return source;
}

}  // namespace sinter::codegen
