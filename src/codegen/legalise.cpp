// One walk, sources first.
#include "codegen/legalise.h"

#include <fmt/core.h>

#include <unordered_map>

#include "rewrite/interval.h"
#include "sinter/error.h"
#include "uop/build.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

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

/// What arithmetic on 0 and 1 that wraps to 0 and 1 comes to.
UOp logic(UOp n) {
  switch (n->op) {
    case Op::Add:
    case Op::Max: return n->src[0] | n->src[1];
    case Op::Mul:
    case Op::Min:
    case Op::IDiv: return n->src[0] & n->src[1];
    case Op::Sub: return n->src[0] ^ n->src[1];
    case Op::Mod: return ir::constant(*n->graph, DType::Bool, 0);  // x % 0 = 0, x % 1 = 0
    default: return n->src[0];
  }
}

class Legaliser {
 public:
  explicit Legaliser(ir::Graph& g) : g_(g) {}

  UOp run(UOp sink) {
    std::unordered_map<UOp, UOp> done;
    for (UOp n : ir::topological(sink)) {
      std::vector<UOp> src;
      for (UOp s : n->src) src.push_back(done.at(s));
      done[n] = legal(src == n->src ? n : ir::with_sources(g_, n, std::move(src)));
    }
    return done.at(sink);
  }

 private:
  UOp legal(UOp n) {
    if (arithmetic_on_bool(n)) return logic(n);
    if ((n->op == Op::IDiv || n->op == Op::Mod) && n->dtype == DType::Index) return divide(n);
    return n;
  }

  UOp divide(UOp n) {
    const ir::Bounds x = intervals_.of(n->src[0]), y = intervals_.of(n->src[1]);
    if (x.lo < 0 || y.lo <= 0) return n;
    const bool narrow = x.hi <= UINT32_MAX && y.hi <= UINT32_MAX;
    const DType type = narrow ? DType::U32 : DType::U64;
    return ir::cast(ir::alu(n->op, {ir::cast(n->src[0], type), ir::cast(n->src[1], type)}), DType::Index);
  }

  ir::Graph& g_;
  ir::Intervals intervals_;
};

}  // namespace

UOp legalise(ir::Graph& g, UOp sink) { return Legaliser(g).run(sink); }

void verify_legal(UOp sink) {
  for (UOp n : ir::topological(sink)) {
    if (has(n->op, ir::kExpanded))
      throw InternalError(fmt::format("codegen: {} was not expanded", ir::info(n->op).name));
    if (arithmetic_on_bool(n)) throw InternalError(fmt::format("codegen: {} on bool was left", ir::info(n->op).name));
    if (is_float(n->dtype) && n->dtype != DType::F32 && n->dtype != DType::F64)
      throw InternalError(fmt::format("codegen: no CPU op computes in {}", name_of(n->dtype)));
  }
}

}  // namespace sinter::codegen
