// A conjunct is kept if it depends on a loop of the index or of another kept conjunct, if it depends on no loop, or if
// it loads.
#include "schedule/lower/predicate.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/walk.h"
#include "rewrite/index_math.h"

namespace sinter::schedule {
namespace {

bool reads(UOp condition) {
  const std::vector<UOp> all = ir::topological(condition);
  return std::ranges::any_of(all, [](UOp n) { return n->op == Op::Load || n->op == Op::Check; });
}

}  // namespace

UOp needed_predicate(const ir::ElementIndex& at, codegen::FreeRanges& free) {
  if (!at.valid || at.valid->op == Op::Const) return at.valid;
  codegen::RangeSet loops;
  for (UOp i : at.index) loops |= free.free(i);
  const std::vector<UOp> all = ir::conjuncts(at.valid);
  std::vector<bool> needed(all.size());
  // A condition on two loops, one of them in the index, keeps the other's too: the index was simplified under both.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < all.size(); ++i) {
      const codegen::RangeSet its = free.free(all[i]);
      if (needed[i] || (its.any() && !(its & loops).any() && !reads(all[i]))) continue;
      loops |= its;
      needed[i] = changed = true;
    }
  }
  UOp kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (needed[i]) kept = kept ? kept & all[i] : all[i];
  return kept;
}

}  // namespace sinter::schedule
