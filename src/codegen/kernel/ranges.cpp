// Free ranges, computed bottom-up.
#include "codegen/kernel/ranges.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/walk.h"
#include "rewrite/interval.h"

namespace sinter::codegen {

std::vector<UOp> values_of(UOp reduce) {
  return {reduce->src.begin(), reduce->src.begin() + ir::value_count(reduce->reduction().combine)};
}
int64_t max_trip_count(UOp range) { return std::max<int64_t>(ir::IntervalAnalysis().of(range->src[0]).hi, 1); }

std::vector<UOp> ranges_of(UOp reduce) {
  return {reduce->src.begin() + ir::value_count(reduce->reduction().combine), reduce->src.end()};
}

UOp result_of(UOp reduce, int result) {
  const ir::ReduceAttr& attr = reduce->reduction();
  if (attr.result == result) return reduce;
  if (reduce->op == Op::Scan) return ir::scan_over(attr.combine, values_of(reduce), ranges_of(reduce), result);
  return ir::reduce_over(attr.combine, values_of(reduce), ranges_of(reduce), attr.tree, result);
}

size_t FreeRanges::number(UOp range) { return *numbers_.try_emplace(range.get(), numbers_.size()).first; }

const RangeSet& FreeRanges::known(UOp n) {
  if (const RangeSet* set = free_.find(n.get())) return *set;
  auto unknown = [this](UOp u) { return !free_.contains(u.get()); };
  for (UOp u : ir::topological(std::span<const UOp>(&n, 1), unknown)) {
    if (!unknown(u)) continue;
    RangeSet set;
    for (UOp s : u->src) set |= *free_.find(s.get());
    if (u->op == Op::Range) set.set(number(u));
    if (u->op == Op::Reduce)
      for (UOp r : ranges_of(u)) set.reset(number(r));
    free_.try_emplace(u.get(), std::move(set));
  }
  return *free_.find(n.get());
}

}  // namespace sinter::codegen
