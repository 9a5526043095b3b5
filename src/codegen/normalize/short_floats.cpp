// One rebuild of the graph. Conversions that go through float32 avoid double rounding.
#include "codegen/normalize/normalize.h"

#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/short_float.h"

namespace sinter::codegen {
namespace {

bool is_short(UOp n) { return ir::is_short_float(n->dtype); }

UOp widen(UOp x) {
  if (is_short(x) && x->op == Op::Const)
    return ir::constant(*x->graph, ir::Scalar::of(DType::F32, x->scalar().as_double()), DType::F32);
  return ir::to_compute_type(x);
}

/// A float64 rounded to odd in float32: an inexact value becomes the neighbor whose last bit is 1. That keeps it off
/// the values and midpoints of any type with at least two bits less, so rounding the result again equals rounding the
/// float64 once (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008).
UOp round_to_odd(UOp x) {
  UOp near = ir::cast(x, DType::F32), back = ir::cast(near, DType::F64), bits = ir::bitcast(near, DType::U32);
  auto number = [&](int value) { return ir::like(bits, ir::Scalar::of(DType::U32, value)); };
  UOp even = ir::eq(bits & number(1), number(0)), below = ir::lt(ir::alu(Op::Abs, {back}), ir::alu(Op::Abs, {x}));
  UOp other = ir::where(below, bits + number(1), bits - number(1));
  return ir::bitcast(ir::where(even & ir::ne(back, x), other, bits), DType::F32);
}

UOp convert(UOp x, DType to) {
  if (is_short(x)) return ir::cast(widen(x), to);
  return ir::cast(x->dtype == DType::F64 ? round_to_odd(x) : ir::cast(x, DType::F32), to);
}

}  // namespace

bool computes_in_short_float(UOp n) {
  if (!ir::is_alu(n->op) || n->op == Op::Where || n->op == Op::Check || n->op == Op::Bitcast) return false;
  const DType from = n->src.back()->dtype;
  if (n->op == Op::Cast && (from == DType::F32 || n->dtype == DType::F32)) return false;
  return is_short(n) || ir::is_short_float(from);
}

UOp widen_short_floats(ir::Graph& g, UOp sink) {
  return ir::rebuild(g, sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (!computes_in_short_float(n)) return {};
    if (n->op == Op::Cast) return convert(src[0], n->dtype);
    std::vector<UOp> operands = ir::mapped(src, [&](UOp s) { return widen(s); });
    return ir::cast(ir::alu(n->op, operands), n->dtype);
  });
}

}  // namespace sinter::codegen
