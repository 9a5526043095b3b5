#include "codegen/nest/mma_statement.h"

#include <algorithm>
#include <utility>

#include "codegen/kernel/common_predicate.h"
#include "ir/contains.h"

namespace sinter::codegen {

std::optional<LoopSchedule::MmaRanges> mma_ranges_of(UOp reduce, const LoopSchedule& schedule, FreeRanges& ranges) {
  if (!reduce->reduction().tree.mma) return {};
  const std::vector<UOp> factors = open_factors(reduce);
  const UOp a = factors[0], b = factors[1];
  for (const LoopSchedule::MmaRanges& m : schedule.mma)
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)})
      if (ranges.depends(x, m.rows) && !ranges.depends(x, m.columns) && ranges.depends(y, m.columns) &&
          !ranges.depends(y, m.rows))
        return m;
  return {};
}

std::vector<LoopLevel> loops_with_own_threads(UOp node, std::vector<LoopLevel> loops, FreeRanges& ranges) {
  const std::vector<UOp> own = node->op == Op::Reduce ? ranges_of(node) : std::vector<UOp>{};
  std::erase_if(loops, [&](const LoopLevel& l) {
    if (node->op == Op::Reduce && node->reduction().tree.mma && l.range == own.back()) return true;
    return l.straight && !ranges.depends(node, l.range) && !ir::contains(own, l.range);
  });
  return loops;
}

const char* why_no_steps(const Statement& s, FreeRanges& ranges) {
  if (s.mma) {
    if (!(s.loops.back().range == ranges_of(s.node).back())) return "the loop over steps is not the innermost";
    for (UOp r : {s.mma->rows, s.mma->columns})
      if (std::ranges::none_of(s.loops, [&](const LoopLevel& l) { return l.range == r && !(l.warp == WarpDigits{}); }))
        return "tensor cores compute results that are not in tiles";
    for (UOp value : values_of(s.node))  // its columns are held by other threads than those of the result
      for (UOp n : body_of(value))
        if (has_accumulators(n) && ranges.depends(n, s.mma->columns))
          return "a tensor core's columns come from a reduction";
    return nullptr;
  }
  if (s.carried()) return "steps of a tensor core cannot be carried without one";
  const auto vector = [&](const LoopLevel& l) { return l.lanes > 1 && ranges.depends(s.node, l.range); };
  return std::ranges::any_of(s.loops, vector) ? "a step of a tensor core has lanes of its own" : nullptr;
}

}  // namespace sinter::codegen
