// Lists the operations of a product's factors.
#include "codegen/tune/heuristic/factor_operations.h"

#include <algorithm>

#include "codegen/kernel/common_predicate.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr double kPolynomial = 16;  ///< cycles of an exponential and of what is made of one

double cycles_of(UOp n) {
  switch (n->op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Expm1:
    case Op::Log:
    case Op::Log2:
    case Op::Log1p:
    case Op::Tanh:
    case Op::Erf:
    case Op::Sin:
    case Op::Cos:
    case Op::Pow: return kPolynomial;
    default: return operations_of(n);
  }
}

}  // namespace

std::vector<FactorOperation> factor_operations(KernelAnalysis& analysis, const StatementAnalysis& product) {
  std::vector<FactorOperation> out;
  if (!product.is_reduce()) return out;
  for (UOp value : values_of(product.node)) {
    const UOp factor = without_predicate(value);
    const auto inside = [&](UOp n) { return n->op != Op::Load && n->op != Op::Reduce; };
    for (UOp n : ir::topological(std::span<const UOp>(&factor, 1), inside))
      if (operations_of(n) > 0 && n->dtype != DType::Bool &&
          std::ranges::any_of(product.reduced_ranges, [&](UOp r) { return analysis.depends(n, r); }))
        out.push_back({n, factor, cycles_of(n)});
  }
  return out;
}

}  // namespace sinter::codegen
