// Both forms of a gated factor: LOAD with a gate, and WHERE.
#include "codegen/gates.h"

#include "codegen/ranges.h"
#include "rewrite/interval.h"
#include "uop/build.h"
#include "uop/rebuild.h"
#include "uop/scalar_eval.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

bool is_zero(UOp n) { return n->op == Op::Const && ir::to_bits(n->dtype, n->scalar()) == 0; }

/// The gate of a value that is +0 where it is closed; null if there is none.
UOp gate_of(UOp value) {
  if (value->op == Op::Where && is_zero(value->src[2])) return value->src[0];
  const size_t rank = value->op == Op::Load ? value->src[0]->rank() : 0;
  if (value->op == Op::Load && value->src.size() > 1 + rank && is_zero(value->src[2 + rank])) return value->src[1 + rank];
  return {};
}

bool always_inside(UOp load, ir::Intervals& intervals) {
  const Shape& shape = load->src[0]->shape;
  for (size_t d = 0; d < shape.rank(); ++d)
    if (shape[d].symbolic() || !intervals.of(load->src[1 + d]).within(0, shape[d].value() - 1)) return false;
  return true;
}

}  // namespace

UOp common_gate(UOp reduce) {
  if (reduce->op != Op::Reduce || reduce->reduction().combine != ir::Combine::Dot) return {};
  UOp gate;
  for (UOp value : values_of(reduce)) {
    const UOp of = gate_of(value);
    if (!of || (gate && !(of == gate))) return {};
    gate = of;
  }
  return gate;
}

UOp without_gate(UOp value) { return value->op == Op::Where && gate_of(value) ? value->src[1] : value; }

UOp select_factors(ir::Graph& g, UOp sink) {
  ir::Intervals intervals;
  return ir::rebuild(g, sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Reduce) return {};
    UOp made = src == n->src ? n : ir::with_sources(g, n, src);
    const UOp gate = common_gate(made);
    std::vector<UOp> now = made->src;
    if (gate)
      for (size_t i = 0; i < values_of(made).size(); ++i) {
        UOp load = now[i];
        if (load->op != Op::Load || !always_inside(load, intervals)) continue;
        const auto rank = static_cast<std::ptrdiff_t>(load->src[0]->rank());
        UOp plain = ir::load(load->src[0], std::vector<UOp>(load->src.begin() + 1, load->src.begin() + 1 + rank));
        now[i] = ir::where(gate, plain, load->src[static_cast<size_t>(rank) + 2]);
      }
    return now == made->src ? made : ir::with_sources(g, made, std::move(now));
  });
}

}  // namespace sinter::codegen
