#include "codegen/emit/live_loops.h"

#include <algorithm>
#include <cstdlib>

#include "rewrite/linear.h"

namespace sinter::codegen {

LiveLoops::Rows LiveLoops::rows_of(UOp range) {
  if (one_trip(range)) return {emit_.number(0), 1, true};
  const LoopAxis& axis = schedule_.of(range);
  for (int level = axis.levels() - 1;; --level) {
    const Id base = values_.base(range, level);
    if (base == kNone) continue;
    const int64_t count = level == Values::kTask       ? axis.block
                          : level + 1 == axis.levels() ? axis.width()
                                                       : axis.steps[level];
    // A loop that takes the whole block begins where the block does.
    return {
        base, count,
        count == 1 || level == Values::kTask || (count == axis.block && base == values_.base(range, Values::kTask))};
  }
}

/// The largest or smallest value of a bound (live_bounds()) for the present rows. Recursion depth: that of the bound.
Id LiveLoops::extreme(UOp n, bool largest) {
  switch (n->op) {
    case Op::Const: return emit_.number(n->scalar().as_int());
    case Op::Range: {
      const Rows rows = rows_of(n);
      return emit_.index(Op::Add, rows.base, emit_.number(largest ? rows.count - 1 : 0));
    }
    case Op::Neg: return emit_.index(Op::Sub, emit_.number(0), extreme(n->src[0], !largest));
    case Op::Mul: {
      const bool falls = n->src[1]->scalar().as_int() < 0;
      return emit_.index(Op::Mul, extreme(n->src[0], largest != falls), extreme(n->src[1], largest));
    }
    default: return emit_.index(n->op, extreme(n->src[0], largest), extreme(n->src[1], largest == (n->op != Op::Sub)));
  }
}

/// Whether a bound is made of quotients (row + c) / n or (c - row) / n in which blocks of rows begin and end with those
/// of n.
bool LiveLoops::is_equal_for_all(UOp bound) {
  const auto single = [&](UOp n) { return n->op == Op::Range && rows_of(n).count == 1; };
  for (const ir::LinearTerm& t : ir::linear_of(bound).terms) {
    if (single(t.atom)) continue;
    if (t.atom->op != Op::IDiv) return false;
    const ir::LinearExpr sum = ir::linear_of(t.atom->src[0]);
    if (sum.terms.size() != 1 || sum.terms[0].atom->op != Op::Range) return false;
    const auto [row, factor] = sum.terms[0];
    const Rows rows = rows_of(row);
    const int64_t divisor = t.atom->src[1]->scalar().as_int(), first = sum.constant + (factor < 0);
    if (std::abs(factor) != 1 || !rows.aligned || divisor % rows.count || ir::floor_mod(first, rows.count))
      return false;
  }
  return true;
}

LiveLoops::Part LiveLoops::part_of(const LoopLevel& level, int64_t step, Id begin, Id end) {
  if (!level.live) return {begin, end};
  const LoopBounds bounds = live_bounds(level);
  Part part{begin, end};
  for (UOp x : bounds.from) {
    Id from = extreme(x, false);
    if (step > 1) from = emit_.index(Op::Mul, emit_.index(Op::IDiv, from, emit_.number(step)), emit_.number(step));
    part.begin = emit_.index(Op::Max, part.begin, from);
  }
  for (UOp x : bounds.to) part.end = emit_.index(Op::Min, part.end, extreme(x, true));
  if (part.end != end) part.left_out = emit_.alu(Op::Lt, {DType::Bool, 1}, {part.end, end});
  return part;
}

bool LiveLoops::counts_for_all(const LoopLevel& level, int64_t step) {
  if (!level.live || step > 1) return false;
  const LoopBounds bounds = live_bounds(level);
  const auto equal = [this](UOp x) { return is_equal_for_all(x); };
  return bounds.conditions.size() == ir::operands_of(level.live, Op::And).size() &&
         std::ranges::all_of(bounds.from, equal) && std::ranges::all_of(bounds.to, equal);
}

}  // namespace sinter::codegen
