// Loads of which several lanes in a row get one element, as from an image that is enlarged: a short load, and a shuffle
// that repeats its elements.
#include <algorithm>
#include <utility>

#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

namespace {
/// Divisions of indices that fit are of 32 bits (codegen/normalize).
UOp without_cast(UOp n) { return n->op == Op::Cast ? n->src[0] : n; }
}  // namespace

/// How many lanes in a row get one element, starting with the first lane. 1: each lane has its own, or they are not in
/// sequence.
int Values::repeats_of(UOp n) {
  const OpenRange* vector = vector_of(n);
  if (!shuffles_ || target_.cuda() || !vector || (predicate_of(n) && varies(predicate_of(n)))) return 1;
  int64_t repeats = 1;
  for (const ir::LinearTerm& t : offset_of(n).terms) {
    if (!ranges_.depends(t.atom, vector->range)) continue;
    const UOp quotient = without_cast(t.atom);
    if (repeats > 1 || t.factor != 1 || quotient->op != Op::IDiv ||
        !ir::constant_of(without_cast(quotient->src[1]), repeats) || repeats < 1)
      return 1;
    const ir::LinearExpr inside = ir::linear_of(without_cast(quotient->src[0]));
    if (inside.terms.size() != 1 || !(inside.terms[0] == ir::LinearTerm{vector->range, 1}) || inside.constant % repeats)
      return 1;
  }
  // Vectors begin where an element does.
  const LoopAxis& axis = schedule_.of(vector->range);
  const auto whole = [&](int64_t count) { return count % repeats == 0; };
  return repeats <= vector->lanes && whole(vector->lanes) && (axis.whole() || whole(axis.block)) &&
                 std::ranges::all_of(axis.steps, whole) && std::ranges::all_of(axis.cuts, whole)
             ? static_cast<int>(repeats)
             : 1;
}

Id Values::make_repeated(UOp n, int repeats) {
  const UOp predicate = predicate_of(n);
  if (!use_load(n, 0)) return kNone;
  const Id from = address(n, 0), open = emit_.both(predicate ? use(predicate, kAllLanes) : kNone, exists(n, kAllLanes));
  Inst inst = load_if(n, lanes(n) / repeats, from, open);
  if (const LaneLimit l = limit(n); !l.none() && inst.type.lanes > 1) {
    const Id rounded = emit_.index(Op::Add, count(l), emit_.number(repeats - 1));
    inst.src.push_back(emit_.divide_unsigned(Op::IDiv, rounded, emit_.number(repeats)));
  }
  const Id elements = emit_load(std::move(inst), n);
  std::vector<Id> parts;
  for (int lane = 0; lane < lanes(n); ++lane) parts.push_back(emit_.lane(elements, lane / repeats));
  return emit_.value({InstCode::Pack, {n->dtype, lanes(n)}, std::move(parts)});
}

}  // namespace sinter::codegen
