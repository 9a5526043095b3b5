// Lists the operations of a product's factors. Normalization has made polynomials of exponentials and the like.
#include "codegen/tune/heuristic/factor_operations.h"

#include <algorithm>

#include "codegen/kernel/common_predicate.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

/// The share of the steps in which a node is evaluated anew: it stands outside of the innermost loops on which it does
/// not depend.
double share_of_steps(KernelAnalysis& analysis, const StatementAnalysis& product, UOp n) {
  double share = 1;
  for (size_t i = product.reduced_ranges.size(); i-- > 0;
       share /= static_cast<double>(analysis.size(product.reduced_ranges[i])))
    if (analysis.depends(n, product.reduced_ranges[i])) return share;
  return 0;
}

}  // namespace

FactorOperations operations_of_factors(KernelAnalysis& analysis, const StatementAnalysis& product) {
  FactorOperations out{{}, product.operations};
  if (!product.is_reduce()) return out;
  for (UOp value : values_of(product.node)) {
    const UOp factor = without_predicate(value);
    for (UOp n : ir::topological(std::span<const UOp>(&factor, 1), [](UOp u) { return u->op != Op::Reduce; })) {
      if (operations_of(n) == 0 || n->dtype == DType::Bool ||
          std::ranges::any_of(out.of_steps, [n](const FactorOperation& o) { return o.node == n; }))
        continue;
      out.beside -= operations_of(n);
      out.of_steps.push_back({n, factor, operations_of(n) * share_of_steps(analysis, product, n)});
    }
  }
  return out;
}

}  // namespace sinter::codegen
