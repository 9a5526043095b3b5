// One rebuild of the graph.
#include "codegen/normalize/normalize.h"

#include <fmt/core.h>

#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "rewrite/interval.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

bool arithmetic_on_bool(UOp n) {
  if (!is_bool(n->dtype)) return false;
  switch (n->op) {
    case Op::Add:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::Neg:
    case Op::Abs:
    case Op::Sub:
    case Op::IDiv:
    case Op::Mod:
    case Op::Shl:
    case Op::Shr: return true;
    default: return false;
  }
}

/// The logic op that arithmetic on 0 and 1 with a bool result amounts to.
UOp logic(Op op, const std::vector<UOp>& src) {
  switch (op) {
    case Op::Add:
    case Op::Max: return src[0] | src[1];
    case Op::Mul:
    case Op::Min:
    case Op::IDiv: return src[0] & src[1];
    case Op::Sub: return src[0] ^ src[1];
    case Op::Mod: return ir::constant(*src[0]->graph, DType::Bool, 0);  // x % 0 = 0, x % 1 = 0
    default: return src[0];
  }
}

/// Null if the operands may be negative, or the divisor zero.
UOp unsigned_division(ir::IntervalAnalysis& intervals, Op op, const std::vector<UOp>& src) {
  const ir::Interval x = intervals.of(src[0]), y = intervals.of(src[1]);
  if (x.lo < 0 || y.lo <= 0) return {};
  const bool narrow = x.hi <= UINT32_MAX && y.hi <= UINT32_MAX;
  const DType type = narrow ? DType::U32 : DType::U64;
  return ir::cast(ir::alu(op, {ir::cast(src[0], type), ir::cast(src[1], type)}), DType::Index);
}

}  // namespace

UOp legalize(ir::Graph& g, UOp sink) {
  ir::IntervalAnalysis intervals;
  return ir::rebuild(g, sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (arithmetic_on_bool(n)) return logic(n->op, src);
    if ((n->op == Op::IDiv || n->op == Op::Mod) && n->dtype == DType::Index)
      return unsigned_division(intervals, n->op, src);
    return {};
  });
}

void verify_legal(UOp sink) {
  for (UOp n : ir::topological(sink)) {
    if (has(n->op, ir::kDecomposed))
      throw InternalError(fmt::format("codegen: {} was not expanded", ir::info(n->op).name));
    if (arithmetic_on_bool(n)) throw InternalError(fmt::format("codegen: {} on bool was left", ir::info(n->op).name));
    if (computes_in_short_float(n) || (is_float(n->dtype) && size_of(n->dtype) == 1))
      throw InternalError(fmt::format("codegen: {} of {} was left, in which no target computes", ir::info(n->op).name,
                                      name_of(n->dtype)));
  }
}

}  // namespace sinter::codegen
