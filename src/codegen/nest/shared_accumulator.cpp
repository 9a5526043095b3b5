// An accumulator follows a source alone if its step reads nothing but the two.
#include "codegen/nest/shared_accumulator.h"

#include <algorithm>

#include "ir/combine.h"

namespace sinter::codegen {
namespace {

bool follows_source_alone(UOp reduce, size_t accumulator) {
  const std::vector<DType> types = ir::accumulator_types(reduce);
  return ir::follows_source_alone(ir::combine_step(reduce->reduction().combine, types), accumulator);
}

}  // namespace

UOp followed_source(const Statement& s, size_t accumulator, FreeRanges& ranges) {
  const ir::ReduceAttr& attr = s.node->reduction();
  const auto count = static_cast<size_t>(ir::accumulator_count(attr.combine));
  if (count == 1 || attr.tree.lanes > 1) return {};
  const UOp source = s.node->src[accumulator];
  const auto follows = [&](const LoopLevel& l) { return ranges.depends(source, l.range); };
  const auto shares = [&](const LoopLevel& l) { return l.straight && ranges.depends(s.node, l.range) && !follows(l); };
  if (std::ranges::none_of(s.loops, shares) || std::ranges::none_of(s.loops, follows)) return {};
  return follows_source_alone(s.node, accumulator) ? source : UOp();
}

bool is_shared_by_chains(const Statement& s, size_t accumulator) {
  const ir::ReduceAttr& attr = s.node->reduction();
  if (ir::accumulator_count(attr.combine) == 1 || attr.tree.lanes == 1 || s.own_depth == s.loops.size()) return false;
  const LoopLevel& last = s.loops.back();
  const UOp size = last.range->src[0];
  return s.node->src[accumulator]->op == Op::Const && last.lanes > 1 && last.number == 0 && !last.threaded() &&
         last.width() % attr.tree.lanes == 0 && size->op == Op::Const && size->scalar().as_int() > 0 &&
         size->scalar().as_int() % last.width() == 0 && follows_source_alone(s.node, accumulator);
}

}  // namespace sinter::codegen
