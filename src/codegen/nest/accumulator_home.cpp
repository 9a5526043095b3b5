// A sum that only its own STORE reads may lie in its place, and so may one that several read if it is stored as it is.
// Otherwise what the first reader makes of the sum would lie where the next one looks for it.
#include "codegen/nest/accumulator_home.h"

#include <set>

#include "codegen/kernel/access.h"
#include "codegen/nest/statement.h"
#include "ir/build.h"
#include "ir/combine.h"
#include "ir/walk.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

Resting::Resting(UOp sink) {
  for (UOp n : ir::topological(sink)) {
    if (n->op == Op::Load) ++loads_[slot_of(n)];
    if (n->op == Op::Store) ++stores_[slot_of(n)];
    if (!combines(n) && n->op != Op::Store) continue;
    std::set<ir::Node*> read;
    for (UOp r : body_of(n))
      if (combines(r) && r != n && read.insert(r.get()).second) ++readers_[r.get()];
    if (n->op == Op::Store && n->integer() == 0 && combines(value_of(n))) kept_.try_emplace(value_of(n).get(), n);
  }
}

UOp Resting::place_for(UOp reduce, UOp user, Ranges& ranges) const {
  if (ir::state_count(reduce->reduction().combine) > 1) return {};
  const auto kept = kept_.find(reduce.get());
  const bool as_it_is = kept != kept_.end();
  if (!as_it_is && readers_.at(reduce.get()) > 1) return {};
  const UOp store = as_it_is ? kept->second : user;
  if (store->op != Op::Store || store->integer() != 0 || gate_of(store) || !(store->src[0]->dtype == reduce->dtype))
    return {};
  if (loads(slot_of(store)) || stores_.at(slot_of(store)) > 1) return {};
  RangeSet places;
  for (UOp i : index_of(store)) places |= ranges.free(i);
  return places == ranges.free(reduce) ? store : UOp();
}

}  // namespace sinter::codegen
