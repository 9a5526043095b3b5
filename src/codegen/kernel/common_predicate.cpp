// A predicated factor has two forms: a LOAD with a predicate, and a WHERE.
#include "codegen/kernel/common_predicate.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ranges.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"

namespace sinter::codegen {

bool is_zero(UOp n) { return n->op == Op::Const && ir::to_bits(n->dtype, n->scalar()) == 0; }

UOp zero_predicate(UOp value) {
  if (value->op == Op::Where && is_zero(value->src[2])) return value->src[0];
  return value->op == Op::Load && predicate_of(value) && is_zero(other_of(value)) ? predicate_of(value) : UOp();
}

UOp common_predicate(UOp reduce) {
  if (reduce->op != Op::Reduce || reduce->reduction().combine != ir::Combine::Dot) return {};
  UOp predicate;
  for (UOp value : values_of(reduce)) {
    const UOp of = zero_predicate(value);
    if (!of || (predicate && !(of == predicate))) return {};
    predicate = of;
  }
  // A step of a tensor core takes all of its elements, or none.
  if (predicate && reduce->reduction().tree.mma && FreeRanges().depends(predicate, ranges_of(reduce).back())) return {};
  return predicate;
}

std::vector<UOp> open_factors(UOp reduce) {
  std::vector<UOp> factors = values_of(reduce);
  if (common_predicate(reduce))
    for (UOp& f : factors) f = without_predicate(f);
  return factors;
}

std::vector<UOp> predicated_loads(UOp reduce) {
  const std::vector<UOp> values = values_of(reduce);
  return ir::filtered(ir::topological(values, [](UOp n) { return !has_accumulators(n); }),
                      [&](UOp n) { return n->op == Op::Load && predicate_of(n); });
}

UOp factor_beside(UOp reduce, UOp load) {
  if (reduce->op != Op::Reduce || reduce->reduction().combine != ir::Combine::Dot || !is_float(reduce->dtype))
    return {};
  const std::vector<UOp> factors = values_of(reduce);
  const auto at = std::ranges::find(factors, load);
  if (factors.size() != 2 || factors[0] == factors[1] || at == factors.end() || !zero_predicate(load)) return {};
  const UOp other = factors[at == factors.begin()];
  return other->op == Op::Load ? other : UOp();
}

UOp without_predicate(UOp value) { return value->op == Op::Where && zero_predicate(value) ? value->src[1] : value; }

}  // namespace sinter::codegen
