// Lists the operations of a product's factors. Normalization has made polynomials of exponentials and the like.
#include "codegen/tune/heuristic/factor_operations.h"

#include <utility>

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
  std::vector<UOp> listed;
  for (UOp value : values_of(product.node)) {
    ComputedFactor factor{without_predicate(value), {}};
    for (UOp n : ir::topological(std::span<const UOp>(&factor.value, 1), [](UOp u) { return u->op != Op::Reduce; })) {
      if (operations_of(n) == 0 || n->dtype == DType::Bool || contains(listed, n)) continue;
      listed.push_back(n);
      out.beside -= operations_of(n);
      factor.operations.push_back({n, operations_of(n) * share_of_steps(analysis, product, n)});
    }
    if (!factor.operations.empty()) out.computed.push_back(std::move(factor));
  }
  return out;
}

}  // namespace sinter::codegen
