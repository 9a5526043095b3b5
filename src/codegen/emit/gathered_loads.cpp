// Gathers: loads with a predicate per lane and irregular addresses. One instruction for eight lanes replaces a branch
// per lane.
#include <utility>

#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"

namespace sinter::codegen {

/// Whether a load can be a masked gather: elements of four or eight bytes, in memory that the kernel does not write.
bool Values::is_gathered(UOp n) {
  constexpr int kTogether = 8;
  const UOp predicate = predicate_of(n);
  const size_t size = size_of(n->dtype);
  return target_.masks && predicate && varies(predicate) && lanes(n) % kTogether == 0 && (size == 4 || size == 8) &&
         is_read_only(n) && !schedule_.prefetches.contains(n.get());
}

/// Address terms that are the same in all lanes go into the pointer. The others form a vector of offsets.
Id Values::make_gathered(UOp n) {
  if (!use_load(n, kAllLanes)) return kNone;
  const Type type{DType::Index, lanes(n)};
  std::vector<Id> shared;
  Id offsets = kNone;
  int64_t constant = offset_of(n).constant;
  const auto add = [&](Id x, int64_t factor) {
    const Id by = emit_.number(factor);
    if (emit_.type(x).lanes == 1) return shared.push_back(emit_.index(Op::Mul, x, by));
    if (factor != 1) x = emit_.alu(Op::Mul, type, {x, emit_.splat(by, type.lanes)});
    offsets = offsets == kNone ? x : emit_.alu(Op::Add, type, {offsets, x});
  };
  for (const ir::LinearTerm& t : offset_of(n).terms) {
    const OpenRange* o = t.atom->op == Op::Range ? binding(t.atom) : nullptr;
    if (!o) {
      add(value(t.atom), t.factor);
      continue;
    }
    add(first(*o), t.factor);
    constant += t.factor * offset(*o, 0);
    if (o->lanes > 1) add(emit_.iota(o->lanes), t.factor);
  }
  if (offsets == kNone) offsets = emit_.splat(emit_.number(0), type.lanes);
  Inst inst = load_if(n, type.lanes, sum_of(std::move(shared), constant), kNone);
  return emit_masked_load(std::move(inst), n, emit_.splat(use(predicate_of(n), kAllLanes), type.lanes),
                          exists(n, kAllLanes), offsets);
}

}  // namespace sinter::codegen
