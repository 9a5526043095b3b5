// The place that a STORE writes may hold the accumulators if that STORE is the only reader of the reduction. With
// several readers it may if the STORE writes the result unchanged. Otherwise the next reader would find what the first
// one computed from the result, not the result.
#include "codegen/nest/accumulator_home.h"

#include <set>

#include "codegen/kernel/access.h"
#include "codegen/nest/statement.h"
#include "ir/build.h"
#include "ir/combine.h"
#include "ir/walk.h"

namespace sinter::codegen {

AccumulatorHomes::AccumulatorHomes(UOp sink) {
  for (UOp n : ir::topological(sink)) {
    if (n->op == Op::Load) ++loads_[slot_of(n)];
    if (n->op == Op::Store) ++stores_[slot_of(n)];
    if (!has_accumulators(n) && n->op != Op::Store) continue;
    std::set<ir::Node*> read;
    for (UOp r : body_of(n))
      if (has_accumulators(r) && r != n && read.insert(r.get()).second) ++readers_[r.get()];
    if (n->op == Op::Store && n->integer() == 0 && has_accumulators(stored_value(n)))
      direct_stores_.try_emplace(stored_value(n).get(), n);
  }
}

UOp AccumulatorHomes::home_for(UOp reduce, UOp user, FreeRanges& ranges) const {
  if (ir::accumulator_count(reduce->reduction().combine) > 1) return {};
  const auto kept = direct_stores_.find(reduce.get());
  const bool as_it_is = kept != direct_stores_.end();
  if (!as_it_is && readers_.at(reduce.get()) > 1) return {};
  const UOp store = as_it_is ? kept->second : user;
  if (store->op != Op::Store || store->integer() != 0 || predicate_of(store) ||
      !(store->src[0]->dtype == reduce->dtype))
    return {};
  if (loads(slot_of(store)) || stores_.at(slot_of(store)) > 1) return {};
  RangeSet places;
  for (UOp i : indices_of(store)) places |= ranges.free(i);
  return places == ranges.free(reduce) ? store : UOp();
}

}  // namespace sinter::codegen
